#include "runner/log/walk.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <string>
#include <utility>

#include "jobs/base/error.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

std::size_t hash_of(const AttemptId& id) {
  const auto mix = [](std::size_t seed, std::size_t value) {
    return (seed ^ value) * 0x9E37'79B9'7F4A'7C15ULL + (seed >> 29);
  };
  const std::hash<std::string> hash;
  auto all = mix(hash(id.episode.cell), hash(id.episode.task));
  all = mix(all, hash(id.key));
  return mix(all, std::size_t{id.episode.replicate} << 32 | id.attempt);
}

/// The row of an attempt whose owner died: the next owner writes it, in another journal.
bool is_killed_row(const Record& record) {
  const auto* end = std::get_if<End>(&record);
  return end != nullptr && end->outcome == Outcome::killed;
}

}  // namespace

std::vector<fs::path> admitted_parts(const RunLog& log, const Stem& stem,
                                     const std::function<void(const LeftOut&)>& left_out) {
  std::vector<fs::path> admitted;
  Coverage coverage;
  std::string missing;
  std::uint32_t number = 0;
  for (const auto& part : parts_of(log.folder, stem)) {
    ++number;
    if (auto why = why_missing(part); !why.empty()) {
      if (missing.empty()) missing = std::move(why);
      coverage.lose();
      continue;
    }
    if (const auto why = why_unsealed(log, stem, part)) {
      left_out(*why);
      if (why->why != LeftOut::Why::unproven) continue;
      if (missing.empty()) missing = why->text();  // as one that is gone: later parts do not stand without it
      coverage.lose();
      continue;
    }
    const auto head = read_segment_header(part, log.key);
    if (const auto why = why_left_out(log, stem, number, part, head, coverage)) {
      left_out(*why);
      continue;
    }
    if (!missing.empty()) throw Error(ErrorCode::corrupt, missing);
    coverage.add(head);
    admitted.push_back(part);
  }
  return admitted;
}

LogWalk::LogWalk(const RunLog& log, std::function<void(const LeftOut&)> left_out)
    : log_(log), left_out_(std::move(left_out)) {}

bool LogWalk::admits(const AttemptId& id) {
  if (verdict_) return false;
  const auto mine = static_cast<std::uint32_t>(stems_.size() - 1);
  const auto owner = owners_.try_emplace(hash_of(id), mine).first->second;
  if (owner != mine) verdict_ = judge_overlap(log_, file_, stems_[owner]);
  return !verdict_;
}

bool LogWalk::admits(const Record& record) {
  if (!is_killed_row(record)) return admits(attempt_of(record));
  const auto mine = static_cast<std::uint32_t>(stems_.size() - 1);
  const auto row = ~hash_of(attempt_of(record));  // apart from the attempt's own records
  return !verdict_ && owners_.try_emplace(row, mine).first->second == mine;
}

void LogWalk::leave_out(const LeftOut& file) const {
  if (left_out_) left_out_(file);
}

/// @returns whether the file counts
bool LogWalk::end_file() {
  const auto verdict = std::exchange(verdict_, std::nullopt);
  if (verdict) leave_out(*verdict);
  return !verdict;
}

StemReport LogWalk::read(const Stem& stem, const Selection& selection, const Visitor& visitor) {
  stems_.push_back(stem);
  const auto journal = log_.folder / (stem.name + ".journal");
  const Fd fd(::open(journal.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno != ENOENT) throw_errno(errno, "open journal", journal.native());

  StemReport report;
  coverage_ = {};
  for (const auto& part : admitted_parts(log_, stem, [this](const LeftOut& file) { leave_out(file); })) {
    file_ = part;
    const OpenSegment segment(part, log_.key);
    visitor.segment(segment);
    if (!end_file()) continue;
    report.segments.push_back(segment.head());
    coverage_.add(segment.head());
  }
  if (!fd) return report;
  file_ = journal;
  if (const auto why = why_left_out(log_, stem, journal, read_journal_head(fd, journal, log_.key))) {
    leave_out(*why);
    return report;
  }
  auto read = read_journal(
      fd, journal, selection,
      [&](std::uint64_t sequence, Record&& entry) {
        if (coverage_.covers(sequence))
          ++report.skipped;
        else if (admits(entry))
          visitor.record(std::move(entry));
      },
      log_.key);
  if (end_file()) report.journal = std::move(read);
  return report;
}

StemReport LogWalk::read(const Stem& stem, const Selection& selection, const std::function<void(Record&&)>& visit) {
  const auto read_part = [&](const OpenSegment& segment) {
    read_records(segment, selection, [&](std::uint64_t sequence, Record&& record) {
      prove_range(segment.name(), segment.head(), coverage_, sequence);
      if (admits(record)) visit(std::move(record));
    });
  };
  return read(stem, selection, Visitor{read_part, visit});
}

void refuse_the_unclear(const LeftOut& file) {
  if (!file.is_harmless()) throw Error(ErrorCode::corrupt, file.text());
}

}  // namespace nkigrid::log
