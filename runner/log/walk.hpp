#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runner/log/folder.hpp"
#include "runner/log/left_out.hpp"
#include "runner/log/run_log.hpp"
#include "runner/log/segment_table.hpp"

namespace nkigrid::log {

/// What reading one journal's files met; `journal` is absent where there was no such file.
struct StemReport {
  std::vector<SegmentReport> segments;
  std::optional<JournalReport> journal;
  std::uint64_t skipped = 0;  ///< journal records that segments cover
};

/// The one way through a log: every record of the run once, whatever lies in its folder. What a file is says its head,
/// not its name; a journal's parts follow each other; an attempt is written by one journal (but for the `killed` row of
/// its taker-over). What does not fit is no part of the log: a copy or a file of another run is left out with a word,
/// and where nobody can tell what is true, that is told.
///
/// Whatever a sealer does meanwhile: a journal is opened before its segments are looked for, and keeps its bytes while
/// it is open. Memory: 40 bytes an attempt.
class LogWalk {
 public:
  struct Visitor {
    /// Reads a segment that counts. Asks admits() of each attempt before it tells of it.
    std::function<void(const OpenSegment&)> segment;
    /// A record of a journal that no segment holds.
    std::function<void(Record&&)> record;
  };

  /// @param left_out hears of each file that does not count; what it throws passes through
  LogWalk(const RunLog& log, std::function<void(const LeftOut&)> left_out);

  /// Reads the files of one journal. Journals of a folder are read by one walk: it knows the attempts of those before.
  /// @throws Error{io}, Error{corrupt}, also for a part that is gone while later ones are there
  StemReport read(const Stem& stem, const Selection& selection, const Visitor& visitor);

  /// read() that gives back records, of both forms alike.
  StemReport read(const Stem& stem, const Selection& selection, const std::function<void(Record&&)>& visit);

  /// True when an attempt is the file's that is being read: no journal before had it.
  bool admits(const AttemptId& id);

 private:
  bool admits(const Record& record);
  bool end_file();
  void leave_out(const LeftOut& file) const;

  RunLog log_;
  std::function<void(const LeftOut&)> left_out_;
  std::vector<Stem> stems_;                                ///< read so far, the one at work last
  std::unordered_map<std::size_t, std::uint32_t> owners_;  ///< attempt, hashed -> index into stems_
  Coverage coverage_;                                      ///< of the journal at work, by its parts read so far
  std::filesystem::path file_;                             ///< at work
  std::optional<LeftOut> verdict_;                         ///< on it
};

/// For readers: a copy and a file of another run are passed over.
/// @throws Error{corrupt} where nobody can tell what is true
void refuse_the_unclear(const LeftOut& file);

/// The segments of a journal that count, in their order. @throws Error{corrupt} for a part that is gone
std::vector<std::filesystem::path> admitted_parts(const RunLog& log, const Stem& stem,
                                                  const std::function<void(const LeftOut&)>& left_out);

}  // namespace nkigrid::log
