#include "runner/log/segment_builder.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace nkigrid::log {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class Row>
void write_group(const h5::File& file, const char* name, std::vector<Row>& rows) {
  ColumnWriter writer;
  for (auto& row : rows) writer.add(row);
  writer.write<Row>(file, name);
}

TurnRow empty_row(const AttemptId& id, std::uint32_t turn) {
  TurnRow row;
  row.reply.id = id;
  row.reply.turn = turn;
  row.turn.max_abs_err = row.turn.rel_l2 = row.turn.estimate_us = kNaN;
  return row;
}

}  // namespace

void SegmentBuilder::add(std::uint64_t sequence, Record&& record) {
  std::visit([&](auto&& r) { add_record(sequence, std::move(r)); }, std::move(record));
}

bool SegmentBuilder::is_full() const noexcept {
  return turns_.rows() >= limits_.rows || attempts_.size() >= limits_.rows || episodes_.size() >= limits_.rows ||
         heap_.bytes() >= limits_.text_bytes;
}

std::uint32_t SegmentBuilder::attempt_row(const AttemptId& id) {
  const auto [known, is_new] = attempt_rows_.try_emplace(id, static_cast<std::uint32_t>(attempts_.size()));
  if (is_new) attempts_.push_back({Begin{.id = id, .started = kNaN}, 0});
  return known->second;
}

void SegmentBuilder::add_record(std::uint64_t sequence, Begin&& begin) {
  auto& row = attempts_[attempt_row(begin.id)];
  if (row.seq != 0) {  // the same attempt begun twice, which only a second writer can do: both are kept
    attempts_.push_back({std::move(begin), sequence});
    return;
  }
  row = {std::move(begin), sequence};
}

TurnRow SegmentBuilder::reply_row(OpenReply&& open) {
  auto& reply = open.reply;
  auto row = empty_row(reply.id, reply.turn);
  row.attempt_row = attempt_row(reply.id);
  row.reply_seq = open.sequence;
  row.request = heap_.add(std::exchange(reply.request, {}));
  row.reply_text = heap_.add(std::exchange(reply.reply, {}));
  row.raw = heap_.add(std::exchange(reply.raw, {}));
  row.reply = std::move(reply);
  return row;
}

void SegmentBuilder::add_record(std::uint64_t sequence, Reply&& reply) {
  auto& open = open_[{reply.id, reply.turn}];
  if (open.sequence != 0) {  // a second reply to one turn: the first stays without one
    auto row = reply_row(std::move(open));
    turns_.add(row);
  }
  open = {sequence, std::move(reply)};
}

void SegmentBuilder::add_record(std::uint64_t sequence, Turn&& turn) {
  const auto open = open_.find({turn.id, turn.turn});
  auto row = open != open_.end() ? reply_row(std::move(open->second)) : empty_row(turn.id, turn.turn);
  if (open != open_.end()) open_.erase(open);
  row.attempt_row = attempt_row(turn.id);
  row.answered = true;
  row.turn_seq = sequence;
  row.kernel = heap_.add(std::exchange(turn.kernel, {}));
  row.tool_output = heap_.add(std::exchange(turn.tool_output, {}));
  row.turn = std::move(turn);
  turns_.add(row);
}

void SegmentBuilder::add_record(std::uint64_t sequence, End&& end) {
  auto& row = episodes_.emplace_back();
  row.seq = sequence;
  row.reason = heap_.add(std::exchange(end.reason, {}));
  row.findings = heap_.add(std::exchange(end.findings, {}));
  row.end = std::move(end);
}

void SegmentBuilder::close_open() {
  // In the order in which they came, not in that of their names.
  auto open = carry_open();
  carried_.clear();
  for (auto& reply : open) {
    auto row = reply_row(std::move(reply));
    turns_.add(row);
  }
}

std::vector<OpenReply> SegmentBuilder::carry_open() {
  std::vector<OpenReply> open;
  for (auto& [key, reply] : open_) open.push_back(std::move(reply));
  open_.clear();
  std::sort(open.begin(), open.end(), [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
  for (const auto& reply : open) carried_.push_back(reply.sequence);
  return open;
}

void SegmentBuilder::mark_superseded() {
  const auto is_later = [](const AttemptId& next, const AttemptId& id) {
    return next.episode == id.episode && next.key == id.key;  // ids sort by episode, key, attempt
  };
  for (auto& row : episodes_) {
    const auto next = attempt_rows_.upper_bound(row.end.id);
    row.superseded = next != attempt_rows_.end() && is_later(next->first, row.end.id);
  }
}

void SegmentBuilder::write_header(const SegmentReport& about) {
  const auto& h = about.header;
  const auto& file = memory_.file();
  h5::write_attribute(file, "format", "nkigrid-log");
  h5::write_attribute(file, "version", static_cast<std::int32_t>(kSegmentVersion));
  h5::write_attribute(file, "grid_hash", h.grid_hash);
  h5::write_attribute(file, "run_id", h.run_id);
  h5::write_attribute(file, "nkigrid_version", h.nkigrid_version);
  h5::write_attribute(file, "sdk", h.sdk);
  h5::write_attribute(file, "backend", h.backend);
  h5::write_attribute(file, "compiler", h.compiler);
  h5::write_attribute(file, "host", h.host);
  h5::write_attribute(file, "journal", about.journal);
  h5::write_attribute(file, "part", about.part);
  h5::write_attribute(file, "seq_first", about.seq_first);
  h5::write_attribute(file, "seq_last", about.seq_last);
  h5::write_attribute(file, "damaged_bytes", about.damaged_bytes);
  h5::write_attribute(file, "missing_records", about.missing_records);
  if (!about.previous.empty()) h5::write_attribute(file, "previous", about.previous);
  if (!about.instead_of.empty()) h5::write_attribute(file, "instead_of", about.instead_of);
}

std::string_view SegmentBuilder::finish(const SegmentReport& about, std::vector<std::uint64_t> carried) {
  if (!carried.empty()) carried_ = std::move(carried);
  const auto& file = memory_.file();
  heap_.close();
  mark_superseded();
  write_header(about);
  write_group(file, "episodes", episodes_);
  turns_.write<TurnRow>(file, "turns");
  write_group(file, "attempts", attempts_);
  auto attempts = h5::open_group(file, "attempts");  // whose the file is, once more, should the attributes be damaged
  h5::write_attribute(attempts, "run_id", about.header.run_id);
  h5::write_attribute(attempts, "journal", about.journal);
  h5::write_attribute(attempts, "part", about.part);
  attempts.close();
  auto root = h5::open_group(file, "/");
  h5::write_numbers(root, "carried", h5::Number::uint64, carried_.size(), carried_.data());
  root.close();
  return memory_.close();
}

}  // namespace nkigrid::log
