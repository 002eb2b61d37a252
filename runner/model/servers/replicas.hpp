#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/servers.hpp"
#include "runner/log/server_notes.hpp"
#include "runner/model/servers/places.hpp"

namespace nkigrid::model {

/// The replicas of one server, as their keepers note them, behind one name: each request goes to the one that has the
/// fewest of this process in flight, of those to the one that had the fewest in all. One that failed a request is tried
/// last for a while.
/// @threads any number
class Replicas {
 public:
  /// @param clock outlives this
  Replicas(const ServerPlaces& places, const jobs::KeptServer& server, const Clock& clock);

  struct Place {
    std::uint32_t replica = 0;
    std::string address;  ///< "http://gpu01:8000"
  };
  /// Nothing while no replica is healthy. What is taken must be given back.
  std::optional<Place> take();
  void give_back(const Place& place, bool answered);

  /// True when none will be healthy again: each has failed for good or was ended.
  bool lost();
  /// True when none is starting, or has not begun.
  bool settled();
  /// True when each has failed for good: no earlier keeper's word.
  bool failed();
  /// Why none is healthy, e.g. "the server of model 'qwen' is starting".
  std::string trouble();
  /// The address of one that is healthy, or nothing.
  std::optional<std::string> healthy();

 private:
  struct Replica {
    log::ServerName name;
    std::optional<log::ServerNote> note;
    std::uint32_t in_flight = 0;
    std::uint64_t given = 0;
    Seconds doubted_until{0};
  };
  bool all_are(std::initializer_list<log::ServerNote::State> states);
  void look();  ///< at the notes, if that is due; under mutex_

  std::filesystem::path log_folder_;
  std::string server_;
  const Clock& clock_;
  std::mutex mutex_;
  std::vector<Replica> replicas_;
  std::optional<Seconds> looked_;
};

}  // namespace nkigrid::model
