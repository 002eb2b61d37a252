#include "runner/log/sealer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "jobs/base/error.hpp"
#include "runner/log/front_seal.hpp"
#include "runner/log/left_out.hpp"
#include "runner/log/publish.hpp"
#include "runner/log/set_aside.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;

Sealed readable_parts(const RunLog& log, const Stem& stem, std::string& why) {
  Sealed sealed;
  for (const auto& file : parts_of(log.folder, stem)) {
    why = why_missing(file);
    if (!why.empty()) break;
    if (const auto foreign = why_unsealed(log, stem, file)) throw Error(ErrorCode::corrupt, foreign->text());
    SegmentReport header;
    try {
      header = read_segment_header(file, log.key);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt || is_other_version(file)) throw;
      why = error.what();
      break;
    }
    if (const auto left = why_left_out(log, stem, sealed.parts + 1, file, header, sealed.coverage))
      throw Error(ErrorCode::corrupt, left->text());
    sealed.coverage.add(header);
    sealed.damaged_bytes += header.damaged_bytes;
    sealed.missing_records += header.missing_records;
    sealed.last_seal = header.seal;
    ++sealed.parts;
  }
  return sealed;
}

void set_parts_aside(const fs::path& folder, const Stem& stem, std::uint32_t first, const std::string& why) {
  const auto parts = parts_of(folder, stem);
  for (auto part = parts.size(); part >= first;
       --part) {  // the last one first: what is left has no gap that was not there before
    if (why_missing(parts[part - 1]).empty())
      set_aside(parts[part - 1], {.reason = why + "; made anew from its journal"});
  }
}

JournalReport read_from_start(const Fd& fd, const fs::path& journal, const SealKey& key, const Selection& selection,
                              const std::function<void(std::uint64_t, Record&&)>& visit) {
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) throw_errno(errno, "read journal", journal.native());
  return read_journal(fd, journal, selection, visit, key);
}

Sealer::Sealer(const fs::path& journal, const SealKey& key, Sealed sealed, JournalReport report, SegmentLimits limits,
               bool last_words)
    : journal_(journal),
      key_(key),
      sealed_(std::move(sealed)),
      report_(std::move(report)),
      limits_(limits),
      last_words_(last_words),
      last_(sealed_.coverage.last()) {}

std::optional<std::vector<fs::path>> Sealer::seal(const Fd& fd, const SealProgress& progress) {
  constexpr std::uint64_t kStep = 1024;  // records
  std::uint64_t done = 0;
  read_from_start(fd, journal_, key_, {}, [&](std::uint64_t sequence, Record&& record) {
    if (progress && ++done % kStep == 0) progress(journal_.stem().native(), done, report_.records);
    if (beaten_ || sealed_.coverage.covers(sequence)) return;
    if (builder_->is_full()) finish_part(false);
    if (sequence > last_) last_ = sequence, first_ = first_ == 0 ? sequence : first_;
    builder_->add(sequence, std::move(record));
    pending_ = true;
  });
  if (!beaten_ && pending_) finish_part(true);
  if (beaten_) return std::nullopt;
  return std::move(written_);
}

void Sealer::finish_part(bool is_last) {
  std::vector<OpenReply> carried;
  if (is_last && last_words_)
    builder_->close_open();
  else
    carried = builder_->carry_open();
  SegmentReport about;
  about.header = report_.header;
  about.journal = journal_.stem().native();
  about.seq_first = first_ > 0 ? first_ : last_;  // nothing but what the part before carried
  about.seq_last = last_;
  if (is_last) {
    about.damaged_bytes = report_.damaged_bytes - std::min(report_.damaged_bytes, sealed_.damaged_bytes);
    about.missing_records = report_.missing_records - std::min(report_.missing_records, sealed_.missing_records);
  }
  about.part = ++sealed_.parts;
  const auto path = part_path(journal_.parent_path(), about.journal, sealed_.parts);
  about.previous = sealed_.last_seal;
  const auto content = builder_->finish(about);
  const auto front = make_front(key_, content);
  sealed_.last_seal = seal_of_front(front);
  beaten_ = !publish(path, {front, content});
  written_.push_back(path);
  builder_.emplace(limits_);
  first_ = 0;
  pending_ = false;
  for (auto& open : carried) builder_->add(open.sequence, std::move(open.reply)), pending_ = true;
}

}  // namespace nkigrid::log
