#include "runner/log/segment.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/file_lock.hpp"
#include "runner/log/folder.hpp"
#include "runner/log/segment_builder.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

fs::path segment_of(const fs::path& journal) { return fs::path(journal).replace_extension(".h5"); }

/// A journal that we may seal: nobody writes it. Not open: it is gone.
struct Claim {
  Fd fd;
  LockResult lock = LockResult::busy;
};
Claim claim(const fs::path& journal) {
  Claim result;
  // Read-write, because flock over NFS wants that for an exclusive lock.
  result.fd = Fd(::open(journal.c_str(), O_RDWR | O_CLOEXEC));
  if (!result.fd && errno != ENOENT) throw_errno(errno, "open journal", journal.native());
  if (result.fd) result.lock = try_lock(result.fd, journal);
  return result;
}

/// True when each of `unended` has an end or a later attempt somewhere in the folder.
bool all_settled(const fs::path& folder, const std::vector<AttemptId>& unended) {
  if (unended.empty()) return true;
  std::map<std::pair<EpisodeId, std::string>, std::uint32_t>
      waiting;  // newest unended attempt of each episode
  for (const auto& id : unended) {
    auto& attempt = waiting[{id.episode, id.key}];
    attempt = std::max(attempt, id.attempt);
  }
  Selection selection{.with_texts = false, .replies = false, .turns = false};
  selection.wanted = [&](const AttemptId& id) { return waiting.contains({id.episode, id.key}); };
  for (const auto& stem : stems_of(folder)) {
    read_stem(folder, stem, selection, [&](Record&& record) {
      const auto& id = attempt_of(record);
      const auto it = waiting.find({id.episode, id.key});
      if (it == waiting.end()) return;
      const bool ended = std::holds_alternative<End>(record) && id.attempt == it->second;
      if (ended || id.attempt > it->second) waiting.erase(it);
    });
  }
  return waiting.empty();
}

/// True when the segment holds all that the journal holds.
bool is_current(const fs::path& segment, const JournalReport& journal) {
  std::error_code ignored;
  if (!fs::exists(segment, ignored)) return false;
  try {
    const auto header = read_segment_header(segment);
    return header.seq_first == journal.first_sequence && header.seq_last == journal.last_sequence;
  } catch (const Error&) {
    return false;  // a damaged segment is made anew while its journal is there
  }
}

JournalReport read_from_start(const Claim& claimed, const fs::path& journal, const Selection& selection,
                              const std::function<void(std::uint64_t, Record&&)>& visit) {
  if (::lseek(claimed.fd.get(), 0, SEEK_SET) != 0) throw_errno(errno, "read journal", journal.native());
  return read_journal(claimed.fd, journal, selection, visit);
}

/// A first, cheap pass: what the journal holds and which of its attempts have not ended.
struct Scan {
  JournalReport report;
  std::vector<AttemptId> unended;
};
Scan scan(const Claim& claimed, const fs::path& journal) {
  std::map<AttemptId, bool> ended;
  Scan result;
  result.report =
      read_from_start(claimed, journal, {.with_texts = false}, [&](std::uint64_t, Record&& record) {
        auto& has_ended = ended[attempt_of(record)];
        has_ended = has_ended || std::holds_alternative<End>(record);
      });
  for (const auto& [id, has_ended] : ended) {
    if (!has_ended) result.unended.push_back(id);
  }
  return result;
}

void write_segment(const Claim& claimed, const fs::path& journal) {
  SegmentBuilder builder;
  const auto report = read_from_start(claimed, journal, {}, [&](std::uint64_t sequence, Record&& record) {
    builder.add(sequence, std::move(record));
  });
  write_file_atomic(segment_of(journal), builder.finish(report, journal.stem().native()));
}

/// Seals a claimed journal. @returns whether a segment was written
bool seal_claimed(const Claim& claimed, const fs::path& journal, bool remove) {
  const auto [report, unended] = scan(claimed, journal);
  const bool write = !is_current(segment_of(journal), report);
  if (write) write_segment(claimed, journal);
  if (remove && !report.damaged() && all_settled(journal.parent_path(), unended)) {
    if (::unlink(journal.c_str()) != 0 && errno != ENOENT)
      throw_errno(errno, "remove journal", journal.native());
    fsync_directory(journal.parent_path());
  }
  return write;
}

}  // namespace

fs::path seal_journal(const fs::path& journal, bool remove_journal, Seconds wait) {
  // A program of another shard may be sealing the whole folder and have come first; it will be done soon.
  const auto deadline = std::chrono::steady_clock::now() + wait;
  auto claimed = claim(journal);
  while (claimed.fd && claimed.lock == LockResult::busy) {
    if (std::chrono::steady_clock::now() >= deadline) {
      throw Error(ErrorCode::io,
                  fmt::format("cannot seal '{}' (its writer is alive, or another program seals it)", journal.native()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    claimed = claim(journal);
  }
  std::error_code ignored;
  if (claimed.fd) seal_claimed(claimed, journal, remove_journal);
  else if (!fs::exists(segment_of(journal), ignored)) throw_errno(ENOENT, "open journal", journal.native());
  return segment_of(journal);
}

std::vector<fs::path> seal_all(const fs::path& folder) {
  std::vector<fs::path> written;
  for (const auto& stem : stems_of(folder)) {
    const auto journal = folder / (stem + ".journal");
    const auto claimed = claim(journal);
    if (!claimed.fd || claimed.lock == LockResult::busy) continue;
    // Without locks a writer may live: its journal can be sealed, but must stay.
    const bool remove = claimed.lock == LockResult::held;
    try {
      if (seal_claimed(claimed, journal, remove)) written.push_back(segment_of(journal));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt) throw;
    }
  }
  return written;
}

}  // namespace nkigrid::log
