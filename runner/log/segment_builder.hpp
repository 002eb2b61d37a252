#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/log/hdf5.hpp"
#include "runner/log/journal.hpp"
#include "runner/log/rows.hpp"
#include "runner/log/text_heap.hpp"

namespace nkigrid::log {

/// Collects a journal's records into the rows of a segment. Texts go into the file at once; rows wait in
/// memory for finish().
class SegmentBuilder {
 public:
  SegmentBuilder() : heap_(memory_.file()) {}

  void add(std::uint64_t sequence, Record&& record);

  /// The whole segment as bytes. Call once. @param stem the journal's name without ending
  std::string finish(const JournalReport& report, const std::string& stem);

 private:
  using TurnKey = std::pair<AttemptId, std::uint32_t>;

  void add_record(std::uint64_t sequence, Begin&& begin);
  void add_record(std::uint64_t sequence, Reply&& reply);
  void add_record(std::uint64_t sequence, Turn&& turn);
  void add_record(std::uint64_t sequence, End&& end);
  TurnRow& new_turn_row(const AttemptId& id, std::uint32_t turn);
  void mark_superseded();
  void write_header(const JournalReport& report, const std::string& stem);

  h5::MemoryFile memory_;
  TextHeap heap_;
  std::vector<BeginRow> begins_;
  std::vector<TurnRow> turns_;
  std::vector<EpisodeRow> episodes_;
  std::map<TurnKey, std::size_t> open_;  ///< replies whose turn has not come, by row
  std::set<AttemptId> attempts_;
};

}  // namespace nkigrid::log
