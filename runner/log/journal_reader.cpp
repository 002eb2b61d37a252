#include "runner/log/journal_reader.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "jobs/base/error.hpp"
#include "runner/log/codec.hpp"
#include "runner/log/framing.hpp"
#include "runner/log/record_seal.hpp"

namespace nkigrid::log {
namespace {

template <class... Fs>
struct Overload : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overload(Fs...) -> Overload<Fs...>;

void count(JournalReport& report, std::uint64_t sequence) {
  if (report.records++ == 0) report.first_sequence = sequence;
  report.last_sequence = sequence;
}

// A journal has its name only once its head is durable: what has neither head nor record was cut by something else.
[[noreturn]] void throw_not_born_so(const std::filesystem::path& name) {
  throw Error(
      ErrorCode::corrupt,
      fmt::format("journal '{}' holds neither its head nor a whole record (no journal is born so); `nkigrid seal "
                  "RUN` sets it aside; what it alone held is run again",
                  name.native()));
}

}  // namespace

bool selects(const Selection& selection, const Record& record) {
  const bool kind = std::visit(
      Overload{[&](const Begin&) { return selection.begins; }, [&](const Reply&) { return selection.replies; },
               [&](const Turn&) { return selection.turns; }, [&](const End&) { return selection.ends; }},
      record);
  return kind && (!selection.wanted || selection.wanted(attempt_of(record)));
}

JournalReport read_journal(const Fd& fd, const std::filesystem::path& name, const Selection& selection,
                           const std::function<void(std::uint64_t, Record&&)>& visit, const SealKey& key) {
  FrameReader frames(fd.get(), name);
  RecordProof proof(key, name.stem().native());
  JournalReport report;
  std::uint64_t sequence = 0;
  std::string payload;
  bool has_head = false;
  while (frames.next(sequence, payload)) {
    if (!proof.holds(sequence, payload)) {
      frames.count_damage(payload.size());
      ++report.unproven;
      continue;
    }
    if (!has_head && report.header.run_id.empty()) report.header.run_id = run_of_begin(payload).value_or("");
    auto decoded = decode(payload, selection.with_texts);
    if (!decoded) {
      frames.count_damage(payload.size());
      continue;
    }
    std::visit(Overload{[&](LogHeader& header) { report.header = std::move(header), has_head = true; },
                        [&](auto& entry) {
                          count(report, sequence);
                          Record record(std::move(entry));
                          if (selects(selection, record)) visit(sequence, std::move(record));
                        }},
               *decoded);
  }
  if (!has_head && report.records == 0 && report.unproven == 0) throw_not_born_so(name);
  report.torn_tail_bytes = frames.torn_bytes();
  report.damaged_bytes = frames.damaged_bytes();
  report.missing_records = frames.missing_records();
  return report;
}

std::optional<LogHeader> read_journal_head(const Fd& fd, const std::filesystem::path& name, const SealKey& key) {
  std::optional<LogHeader> head;
  {
    FrameReader frames(fd.get(), name);
    RecordProof proof(key, name.stem().native());
    std::uint64_t sequence = 0;
    std::string payload;
    bool has_record = false;
    while (!head && frames.next(sequence, payload)) {
      auto decoded = decode(payload, false);
      has_record = has_record || decoded;
      if (!proof.holds(sequence, payload)) continue;
      if (decoded && std::holds_alternative<LogHeader>(*decoded))
        head = std::get<LogHeader>(std::move(*decoded));
      else if (auto run = run_of_begin(payload))
        head = LogHeader{.run_id = std::move(*run)};
    }
    if (!head && !has_record) throw_not_born_so(name);
  }
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) throw_errno(errno, "read journal", name.native());
  return head;
}

JournalReport read_journal(const std::filesystem::path& file, const std::function<void(std::uint64_t, Record&&)>& visit,
                           const SealKey& key) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw_errno(errno, "open journal", file.native());
  return read_journal(fd, file, Selection{}, visit, key);
}

}  // namespace nkigrid::log
