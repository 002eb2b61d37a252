#include "runner/log/segment_builder.hpp"

#include <limits>
#include <utility>

#include "runner/log/columns.hpp"

namespace nkigrid::log {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class Row>
void write_group(const h5::File& file, const char* name, std::vector<Row>& rows) {
  ColumnWriter writer(rows.size());
  Row any;
  columns(any, writer);
  for (auto& row : rows) {
    writer.begin_row();
    columns(row, writer);
  }
  auto group = h5::create_group(file, name);
  writer.write(group);
  group.close();
}

}  // namespace

void SegmentBuilder::add(std::uint64_t sequence, Record&& record) {
  std::visit([&](auto&& r) { add_record(sequence, std::move(r)); }, std::move(record));
}

void SegmentBuilder::add_record(std::uint64_t sequence, Begin&& begin) {
  attempts_.insert(begin.id);
  begins_.push_back({std::move(begin), sequence});
}

TurnRow& SegmentBuilder::new_turn_row(const AttemptId& id, std::uint32_t turn) {
  attempts_.insert(id);
  auto& row = turns_.emplace_back();
  row.reply.id = id;
  row.reply.turn = turn;
  row.turn.max_abs_err = row.turn.rel_l2 = row.turn.estimate_us = kNaN;
  return row;
}

void SegmentBuilder::add_record(std::uint64_t sequence, Reply&& reply) {
  open_[{reply.id, reply.turn}] = turns_.size();
  auto& row = new_turn_row(reply.id, reply.turn);
  row.reply_seq = sequence;
  row.request = heap_.add(std::exchange(reply.request, {}));
  row.reply_text = heap_.add(std::exchange(reply.reply, {}));
  row.raw = heap_.add(std::exchange(reply.raw, {}));
  row.reply = std::move(reply);
}

void SegmentBuilder::add_record(std::uint64_t sequence, Turn&& turn) {
  const auto open = open_.find({turn.id, turn.turn});
  auto& row = open != open_.end() ? turns_[open->second] : new_turn_row(turn.id, turn.turn);
  if (open != open_.end()) open_.erase(open);
  row.answered = true;
  row.turn_seq = sequence;
  row.kernel = heap_.add(std::exchange(turn.kernel, {}));
  row.tool_output = heap_.add(std::exchange(turn.tool_output, {}));
  row.turn = std::move(turn);
}

void SegmentBuilder::add_record(std::uint64_t sequence, End&& end) {
  attempts_.insert(end.id);
  auto& row = episodes_.emplace_back();
  row.seq = sequence;
  row.reason = heap_.add(std::exchange(end.reason, {}));
  row.end = std::move(end);
}

void SegmentBuilder::mark_superseded() {
  for (auto& row : episodes_) {
    // Ids sort by episode, key, attempt: a later attempt of the same episode would be the next.
    const auto next = attempts_.upper_bound(row.end.id);
    row.superseded =
        next != attempts_.end() && next->episode == row.end.id.episode && next->key == row.end.id.key;
  }
}

void SegmentBuilder::write_header(const JournalReport& report, const std::string& stem) {
  const auto& h = report.header;
  const auto& file = memory_.file();
  h5::write_attribute(file, "format", "nkigrid-log");
  h5::write_attribute(file, "version", std::int32_t{1});
  h5::write_attribute(file, "grid_hash", h.grid_hash);
  h5::write_attribute(file, "run_id", h.run_id);
  h5::write_attribute(file, "nkigrid_version", h.nkigrid_version);
  h5::write_attribute(file, "sdk", h.sdk);
  h5::write_attribute(file, "backend", h.backend);
  h5::write_attribute(file, "compiler", h.compiler);
  h5::write_attribute(file, "host", h.host);
  h5::write_attribute(file, "journal", stem);
  h5::write_attribute(file, "seq_first", report.first_sequence);
  h5::write_attribute(file, "seq_last", report.last_sequence);
  h5::write_attribute(file, "damaged_bytes", report.damaged_bytes);
  h5::write_attribute(file, "missing_records", report.missing_records);
}

std::string SegmentBuilder::finish(const JournalReport& report, const std::string& stem) {
  heap_.close();
  mark_superseded();
  write_header(report, stem);
  write_group(memory_.file(), "episodes", episodes_);
  write_group(memory_.file(), "turns", turns_);
  write_group(memory_.file(), "begins", begins_);
  return memory_.take();
}

}  // namespace nkigrid::log
