#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/log/columns.hpp"
#include "runner/log/hdf5.hpp"
#include "runner/log/rows.hpp"
#include "runner/log/segment_reader.hpp"
#include "runner/log/text_heap.hpp"

namespace nkigrid::log {

/// When a segment is full and the next part begins: this bounds the memory of whoever writes or reads one.
struct SegmentLimits {
  std::uint64_t rows = 131'072;
  std::uint64_t text_bytes = std::uint64_t{128} << 20;
};

/// A reply whose turn has not come.
struct OpenReply {
  std::uint64_t sequence = 0;
  Reply reply;
};

/// Collects a journal's records into the columns of one segment. Texts go into the file when their turn is finished, so
/// that a turn's stand side by side.
class SegmentBuilder {
 public:
  explicit SegmentBuilder(SegmentLimits limits = {}) : limits_(limits), heap_(memory_.file()) {}

  void add(std::uint64_t sequence, Record&& record);
  bool is_full() const noexcept;

  /// Open replies become rows without a turn: no next part will have them.
  void close_open();
  /// Takes the open replies out, for the next part. finish() lists them as carried.
  std::vector<OpenReply> carry_open();

  /// The whole segment as bytes, which live as long as this. Call once. @param about its `carried` and `records` are
  /// not looked at @param carried if given: what the next part has of the ranges up to this one, rising
  std::string_view finish(const SegmentReport& about, std::vector<std::uint64_t> carried = {});

 private:
  using TurnKey = std::pair<AttemptId, std::uint32_t>;

  void add_record(std::uint64_t sequence, Begin&& begin);
  void add_record(std::uint64_t sequence, Reply&& reply);
  void add_record(std::uint64_t sequence, Turn&& turn);
  void add_record(std::uint64_t sequence, End&& end);
  std::uint32_t attempt_row(const AttemptId& id);
  TurnRow reply_row(OpenReply&& open);
  void mark_superseded();
  void write_header(const SegmentReport& about);

  SegmentLimits limits_;
  h5::MemoryFile memory_;
  TextHeap heap_;
  std::vector<AttemptRow> attempts_;
  std::map<AttemptId, std::uint32_t> attempt_rows_;
  ColumnWriter turns_;
  std::vector<EpisodeRow> episodes_;
  std::map<TurnKey, OpenReply> open_;
  std::vector<std::uint64_t> carried_;
};

}  // namespace nkigrid::log
