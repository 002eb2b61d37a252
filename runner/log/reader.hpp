#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/log/journal.hpp"
#include "runner/log/left_out.hpp"
#include "runner/log/records.hpp"
#include "runner/log/run_log.hpp"

namespace nkigrid::log {

/// Which parts of turn rows to read: tables need no texts.
enum class Texts { skip, load };

/// Everything the log of a run knows, sealed and unsealed alike, in no particular order between files and in
/// order within one. Journal records that a segment covers are skipped: every record comes once. A callback
/// left empty spares the reading of what only it needs. Without texts, request, reply, raw, kernel,
/// tool_output and reason are empty.
struct LogVisitor {
  std::function<void(const Begin&)> begin;
  std::function<void(const Reply&)> reply;
  std::function<void(const Turn&)> turn;
  std::function<void(const End&)> end;
  std::function<void(const std::string& warning)> warning;  ///< damage, with file and bytes
  std::function<void(const LeftOut&)> left_out;             ///< a copy, or a file of another run
};

/// @param log its folder may be absent or empty
/// @throws Error{io}, Error{corrupt}, also where two files tell one attempt differently (left_out.hpp)
void read_log(const RunLog& log, Texts texts, const LogVisitor& visitor);

/// Reply and Turn of one turn number, joined.
struct LoggedTurn {
  Reply reply;
  std::optional<Turn> turn;  ///< absent: the reply was durable, its tools' answers were not
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
