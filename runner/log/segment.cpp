#include "runner/log/segment.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/file_lock.hpp"
#include "runner/log/folder.hpp"
#include "runner/log/left_out.hpp"
#include "runner/log/sealer.hpp"
#include "runner/log/set_aside.hpp"
#include "runner/log/walk.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

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

/// What a log knows of each episode's newest attempt, read once when it is first asked: a folder has as many journals
/// with unended attempts as owners died. What others write meanwhile can only settle more.
class Settled {
 public:
  /// True when each of `unended` has an end or a later attempt somewhere in the log. @param log the same in each call
  bool all(const RunLog& log, const std::set<AttemptId>& unended) {
    if (!unended.empty() && !std::exchange(is_read_, true)) read(log);
    return std::all_of(unended.begin(), unended.end(), [&](const AttemptId& id) {
      const auto newest = newest_.find({id.episode, id.key});
      if (newest == newest_.end()) return false;
      return newest->second.attempt > id.attempt || (newest->second.attempt == id.attempt && newest->second.has_ended);
    });
  }

 private:
  struct Newest {
    std::uint32_t attempt = 0;
    bool has_ended = false;
  };

  void read(const RunLog& log) {
    LogWalk walk(log, {});  // what does not count settles nothing
    for (const auto& stem : stems_of(log.folder)) {
      walk.read(stem, {.with_texts = false, .replies = false, .turns = false}, [&](Record&& record) {
        const auto& id = attempt_of(record);
        auto& newest = newest_[{id.episode, id.key}];
        if (id.attempt < newest.attempt) return;
        const bool is_later = id.attempt > newest.attempt;
        newest = {id.attempt, (newest.has_ended && !is_later) || std::holds_alternative<End>(record)};
      });
    }
  }

  bool is_read_ = false;
  std::map<std::pair<EpisodeId, std::string>, Newest> newest_;
};

/// A first, cheap pass: what the journal holds, which of its attempts have not ended, how much no segment has.
struct Scan {
  JournalReport report;
  std::set<AttemptId> unended;
  std::uint64_t unsealed = 0;
};

Scan scan(const Fd& fd, const fs::path& journal, const SealKey& key, const Coverage& coverage) {
  Scan result;
  result.report =
      read_from_start(fd, journal, key, {.with_texts = false}, [&](std::uint64_t sequence, Record&& record) {
        if (!coverage.covers(sequence)) ++result.unsealed;
        if (std::holds_alternative<End>(record))
          result.unended.erase(attempt_of(record));
        else
          result.unended.insert(attempt_of(record));
      });
  return result;
}

void remove_journal_file(const fs::path& journal, const JournalReport& report) {
  if (report.damaged()) {
    const auto saved = report.records > 0 ? "what is whole in it is sealed in " + journal.stem().native() + ".h5"
                                          : std::string("nothing in it is whole");
    set_aside(journal, {.reason = "damaged; " + saved,
                        .records = report.records,
                        .damaged_bytes = report.damaged_bytes,
                        .missing_records = report.missing_records});
    return;
  }
  if (::unlink(journal.c_str()) != 0 && errno != ENOENT) throw_errno(errno, "remove journal", journal.native());
  fsync_directory(journal.parent_path());
}

struct SealWish {
  bool remove = false;
  bool last_words = true;
  SegmentLimits limits;
  SealKey key;
  const SealProgress& progress;
  Settled& settled;
};

/// Seals a claimed journal. @returns the segments written
std::vector<fs::path> seal_claimed(const Claim& claimed, const fs::path& journal, const SealWish& wish) {
  const auto folder = journal.parent_path();
  for (;;) {
    const auto stem = stem_of(folder, journal.stem().native());
    std::string damage;
    const auto head = read_journal_head(claimed.fd, journal, wish.key);
    const RunLog log{folder, head ? head->run_id : std::string(), wish.key};
    auto sealed = readable_parts(log, stem, damage);
    auto [report, unended, unsealed] = scan(claimed.fd, journal, wish.key, sealed.coverage);
    if (!damage.empty()) set_parts_aside(folder, stem, sealed.parts + 1, damage);
    std::vector<fs::path> written;
    if (unsealed > 0) {
      auto parts = Sealer(journal, wish.key, std::move(sealed), report, wish.limits, wish.last_words)
                       .seal(claimed.fd, wish.progress);
      if (!parts) continue;
      written = std::move(*parts);
    }
    if (wish.remove && (report.damaged() || wish.settled.all(log, unended))) remove_journal_file(journal, report);
    return written;
  }
}

}  // namespace

fs::path seal_journal(const fs::path& journal, bool remove_journal, Seconds wait, SegmentLimits limits,
                      const SealKey& key, const SealProgress& progress) {
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
  const auto segment = part_path(journal.parent_path(), journal.stem().native(), 1);
  Settled settled;
  if (claimed.fd) seal_claimed(claimed, journal, {remove_journal, true, limits, key, progress, settled});
  std::error_code ignored;
  return fs::exists(segment, ignored) ? segment : fs::path();
}

std::vector<fs::path> seal_all(const RunLog& log, const SealProgress& progress) {
  std::vector<fs::path> written;
  Settled settled;
  for (const auto& stem : stems_of(log.folder)) {
    const auto journal = log.folder / (stem.name + ".journal");
    const auto claimed = claim(journal);
    if (!claimed.fd || claimed.lock == LockResult::busy) continue;
    // Without locks a writer may live: its journal can be sealed, but must stay, and its replies may yet be answered.
    const bool held = claimed.lock == LockResult::held;
    try {
      if (why_left_out(log, stem, journal, read_journal_head(claimed.fd, journal, log.key))) continue;
      for (auto& path : seal_claimed(claimed, journal, {held, held, {}, log.key, progress, settled}))
        written.push_back(std::move(path));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt) throw;
    }
  }
  return written;
}

}  // namespace nkigrid::log
