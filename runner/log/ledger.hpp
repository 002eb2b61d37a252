#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobs/plan.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/live_shards.hpp"
#include "runner/log/node_tally.hpp"
#include "runner/log/records.hpp"
#include "runner/log/run_log.hpp"

namespace nkigrid::log {

/// Why an episode has no scored outcome.
enum class Outstanding : std::uint8_t {
  none,
  pending,
  running,
  killed,
  api_error,
  verifier_error,
  device_error,
  parked
};

std::string_view to_string(Outstanding reason) noexcept;

/// State of one planned episode.
struct EpisodeState {
  std::uint32_t attempts = 0;         ///< highest attempt begun
  std::uint32_t counted_attempt = 0;  ///< the highest attempt with a scored outcome; 0: none
  /// Attempts that ended api_error, verifier_error or device_error, for parking; those that a node which was found out
  /// failed are not among them, and those in doubt park in their session alone (NodeBlame).
  std::uint32_t infra_failures = 0;
  bool suspect = false;  ///< NodeBlame::is_suspect()
  Outstanding outstanding = Outstanding::pending;
  Outstanding last_failure =
      Outstanding::none;           ///< how the newest attempt that ended without a score ended; also when parked
  std::string last_node;           ///< of the last failed attempt
  double spent_usd = 0;            ///< by all attempts that ended, or died and were taken over
  std::uint64_t spent_tokens = 0;  ///< the same, in and out
  bool unfinished = false;         ///< the newest attempt has a begin and no end

  bool is_scored() const noexcept { return counted_attempt > 0; }
  /// True when a session may be given it: it has no score, and is not parked or parked ones are asked for. One that
  /// runs is: whether its owner lives is the shard's lock to say, or the batch system's.
  bool is_to_run(bool with_parked) const noexcept {
    return !is_scored() && (with_parked || outstanding != Outstanding::parked);
  }
};

/// True when the score of an attempt needed the node's device: it compiled or ran the final kernel.
bool was_on_device(const End& end) noexcept;

/// True when an episode has used up the attempts that infrastructure may fail: it waits until it is asked for.
inline bool is_parked(std::uint32_t infra_failures, std::uint32_t infra_retries) noexcept {
  return infra_failures > 0 && infra_failures >= infra_retries;
}

/// The one place that knows which attempt counts: folds the log's records into the state of every planned
/// episode. The highest attempt with a scored outcome counts; rows whose key is not the plan's are ignored.
struct Ledger {
  std::vector<EpisodeState> states;  ///< parallel to plan.episodes
  /// The counted row, parallel to plan.episodes; its episode, key, level, category and texts are empty: the plan or
  /// read_log() has them.
  std::vector<std::optional<End>> ends;
  std::vector<std::string> warnings;  ///< damage found while reading, and files that do not count
  std::vector<std::string>
      trust;  ///< what every table says of a run: a laxer rule, an unverified log, an audit's finding
  std::uint32_t foreign_files = 0;   ///< of the log folder, that are of another run: not counted, and warned of
  std::uint32_t unproven_files = 0;  ///< that the run's key has not sealed: not counted, and warned of
  std::uint32_t copied_files = 0;    ///< whose records others hold: counted once, and warned of
  std::uint64_t ignored_rows = 0;    ///< rows of other keys
  std::map<std::string, NodeTally> nodes;
  std::map<std::string, std::set<std::string>> builds;  ///< of nkigrid that wrote the log -> the nodes where they did

  /// Names the builds and their nodes where there are several, else "": a build that was left on one node may judge
  /// otherwise than the others.
  std::string build_warning() const;

  /// Nodes that eat episodes. The next submission leaves them out, where enough others are left to try.
  std::vector<std::string> bad_nodes() const;
  /// Those of them that elements which wait are to leave out, with nobody there to look: none when no node does better,
  /// for then it may be no node's fault, and nothing would be left to begin on.
  std::vector<std::string> outdone_nodes() const;

  std::uint64_t scored() const noexcept;
  std::uint64_t outstanding() const noexcept { return states.size() - scored(); }

  /// The episodes that a session may be given: indices into plan.episodes, ascending.
  std::vector<std::uint32_t> to_run(bool with_parked) const;
  /// The shards of `plan` that hold such episodes, ascending.
  std::vector<std::uint32_t> shards_to_run(const jobs::Plan& plan, bool with_parked) const;
};

/// Reads the log and folds it. Parked: `infra_retries` attempts ended api_error, verifier_error or
/// device_error; killed ones do not count, nor what a node failed that eats episodes.
/// @param live shards whose writers live: attempts of theirs without an end count as `running`, others as `killed`
/// @throws Error{io}, Error{corrupt} as read_log()
Ledger fold_log(const jobs::Plan& plan, std::uint32_t infra_retries, const RunLog& log, const LiveShards& live);

/// The ledger of a run as it stands now: attempts without an end count as running while a journal of their shard has a
/// living writer. Alone of these it knows what every table says of the log (trust).
Ledger read_ledger(const jobs::Run& run);

}  // namespace nkigrid::log
