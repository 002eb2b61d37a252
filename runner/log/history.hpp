#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/base/ids.hpp"
#include "runner/log/records.hpp"
#include "runner/log/run_log.hpp"

namespace nkigrid::log {

/// Reply and Turn of one turn number, joined.
struct LoggedTurn {
  Reply reply;
  std::optional<Turn> turn;   ///< absent: the reply was durable, its tools' answers were not
  std::uint32_t paid_by = 0;  ///< the attempt that asked for the reply: an earlier one where this took it over
};

/// The turns from which an attempt continues, oldest first: those of the episode's newest attempt, with what
/// it inherited. Only the last may lack its Turn. Texts are loaded. Each record keeps the id of the attempt
/// that wrote it. An attempt that died before its first reply leaves its predecessor's turns; one that began
/// anew (inherited_turns 0 and a first reply) hides them. Where damage took a turn, what follows it is left
/// out.
/// @throws Error{io}, Error{corrupt}
std::vector<LoggedTurn> read_history(const RunLog& log, const EpisodeId& episode, const std::string& key);

struct HistoryKey {
  EpisodeId episode;
  std::string key;
  auto operator<=>(const HistoryKey&) const = default;
};

/// Several histories in one pass over the log, parallel to `wanted` (no episode twice): for a resume of many.
std::vector<std::vector<LoggedTurn>> read_histories(const RunLog& log, const std::vector<HistoryKey>& wanted);

}  // namespace nkigrid::log
