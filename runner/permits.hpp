#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "jobs/endpoints.hpp"
#include "runner/model/hand_over.hpp"
#include "runner/model/model.hpp"

namespace nkigrid::runner {

/// Rank 0's side: counts what is out at each endpoint, queues who waits. Models without a limit are granted at once.
/// @threads any
class PermitOffice {
 public:
  /// @param part of the grid's limits that this process group keeps to
  explicit PermitOffice(const jobs::Grid& grid, const jobs::EndpointPart& part = {});

  /// A permit for one of a rank's lanes.
  struct Grant {
    std::string model;
    int rank = 0;
    bool operator==(const Grant&) const = default;
  };
  /// @returns true when granted now
  bool take(const std::string& model);
  /// @returns true when granted now; else the rank waits in line.
  bool want(const std::string& model, int rank);
  /// Takes a permit back. @returns to whom it goes on, if to anyone: first come first served among those whose model
  /// has room.
  std::optional<Grant> give_back(const std::string& model);

 private:
  struct Endpoint {
    std::uint32_t limit = 0, out = 0;
    std::deque<Grant> line;
  };
  struct Model {
    std::size_t endpoint = 0;
    std::uint32_t limit = 0, out = 0;
  };
  bool take_one(Model& model);
  bool take_locked(const std::string& model);

  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::vector<Endpoint> endpoints_;      ///< one an endpoint
  std::map<std::string, Model> models_;  ///< those with a limit
};

/// How many permits a rank's lanes may pass on among themselves, by model.
using OwnPermits = std::map<std::string, std::uint32_t>;

/// A rank's equal part of what its element may have in flight; none of a model that shares its endpoint with others,
/// who would wait for ever, and none where there are fewer permits than ranks.
OwnPermits own_permits(const jobs::Grid& grid, const jobs::EndpointPart& element, int rank, int ranks);

/// A rank's side of the endpoints' concurrency: lanes wait here, the main thread asks rank 0 and brings grants back.
/// A lane that is done passes its permit on to one that waits beside it, without a word to rank 0, as long as the rank
/// holds no more than its own part; what is above the part goes to whoever has waited longest, so that each rank that
/// needs its part has it soon (docs/decisions/concurrency.md).
/// @threads acquire and release from lanes; the rest from the main thread.
class RankPermits final : public model::Permits {
 public:
  /// @param wake called (from a lane) when there is something for the main thread to fetch
  /// @param office on rank 0, whose lanes ask it themselves while there is room; else null; outlives this
  explicit RankPermits(std::function<void()> wake, PermitOffice* office = nullptr, OwnPermits own = {})
      : wake_(std::move(wake)), office_(office), own_(std::move(own)) {}

  bool acquire(const std::string& model, std::stop_token stop) override;
  void release(const std::string& model) override;

  struct Outgoing {
    std::vector<std::string> wanted, returned;  ///< model names, one entry a permit
    std::vector<PermitOffice::Grant> granted;   ///< to be told: by what lanes gave back to the office
  };
  Outgoing take_outgoing();
  void grant(const std::string& model);

 private:
  /// The lanes that wait for one model: never more than permits are asked for.
  struct Line {
    model::HandOver waiting;
    std::uint32_t asked = 0;  ///< of rank 0, which has not granted them yet
    std::uint32_t held = 0;   ///< by this rank's lanes
  };
  bool take_beside_office(const std::string& model);
  bool pass_on(const std::string& model);

  std::mutex mutex_;
  std::map<std::string, Line> lines_;
  Outgoing outgoing_;
  std::function<void()> wake_;
  PermitOffice* office_;
  OwnPermits own_;
};

}  // namespace nkigrid::runner
