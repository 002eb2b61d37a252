#include "runner/log/put_right.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <system_error>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/file_lock.hpp"
#include "runner/log/rebuild.hpp"
#include "runner/log/same_records.hpp"
#include "runner/log/segment.hpp"
#include "runner/log/set_aside.hpp"
#include "runner/log/walk.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

constexpr int kMostRounds = 8;  // each rename or rebuild may show the next

bool is_written(const fs::path& file) {
  if (file.extension() != ".journal") return false;
  const Fd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  return fd && try_lock(fd, file) == LockResult::busy;
}

void set_aside_as(const fs::path& file, const std::string& reason, std::vector<Salvaged>& done) {
  set_aside(file, {.reason = reason});
  done.push_back({file, reason + "; it is set aside"});
}

void give_own_name(const LeftOut& file, std::vector<Salvaged>& done) {
  if (::link(file.file.c_str(), file.rename.c_str()) != 0) {
    if (errno == EEXIST) return;  // another file just got it: the next round judges this one by that
    throw_errno(errno, "rename", file.file.native());
  }
  fs::remove(file.file);
  fsync_directory(file.file.parent_path());
  done.push_back({file.file, fmt::format("{}; it is now '{}'", file.reason, file.rename.filename().native())});
}

/// The other files may be the copy, of what this one holds whole. @returns whether they were
bool set_smaller_aside(const RunLog& log, const LeftOut& file, std::vector<Salvaged>& done) {
  const auto others = counted_files(log, file.of, file.file);
  const bool all = std::all_of(others.begin(), others.end(), [&](const auto& other) {
    const auto overlap = compare_records(log.key, other, {file.file});
    return overlap.other == 0 && overlap.alone == 0 && !is_written(other);
  });
  for (const auto& other : others) {
    if (all) set_aside_as(other, fmt::format("'{}' holds each of its records, and more", file.file.native()), done);
  }
  return all;
}

/// The attempts that a journal's files tell of; rows that it wrote for the dead are of others.
std::set<AttemptId> attempts_of(const RunLog& log, const LeftOut& file) {
  std::set<AttemptId> attempts;
  for (const auto& other : counted_files(log, file.of, file.file)) {
    read_file_records(log.key, other, [&](std::uint64_t, Record&& record) {
      const auto* end = std::get_if<End>(&record);
      if (end == nullptr || end->outcome != Outcome::killed) attempts.insert(attempt_of(record));
    });
  }
  return attempts;
}

/// Keeps what no other file tells. A journal is sealed for it first: it is never written to again.
void keep_own(const RunLog& log, const LeftOut& file, std::vector<Salvaged>& done) {
  if (file.file.extension() == ".journal") {
    seal_journal(file.file, false, Seconds(0), {}, log.key);
    return;
  }
  for (const auto& stem : stems_of(log.folder)) {
    const auto parts = parts_of(log.folder, stem);
    const auto at = std::find(parts.begin(), parts.end(), file.file);
    if (at == parts.end()) continue;
    // A journal of it is sealed to its end and goes: its segments no longer tell all of it.
    const auto journal = log.folder / (stem.name + ".journal");
    const bool has_journal = fs::exists(journal);
    if (has_journal && is_written(journal)) return;
    if (has_journal) seal_journal(journal, false, Seconds(0), {}, log.key);
    const auto taken = std::make_shared<std::set<AttemptId>>(attempts_of(log, file));
    done.push_back(
        rebuild(log, {.stem = stem,
                      .part = static_cast<std::uint32_t>(at - parts.begin()) + 1,
                      .why = file.reason,
                      .keeps = [taken](const Record& record) { return !taken->contains(attempt_of(record)); }}));
    if (has_journal) set_aside(journal, {.reason = file.reason});
    return;
  }
}

/// @returns whether anything changed
bool put_right(const RunLog& log, const LeftOut& file, std::vector<Salvaged>& done) {
  if (is_written(file.file)) return false;
  switch (file.why) {
    case LeftOut::Why::foreign:
    case LeftOut::Why::copy:
      set_aside_as(file.file, file.reason, done);
      return true;
    case LeftOut::Why::unproven:
      set_aside_as(file.file, file.reason, done);
      done.back().lost = !fs::exists(log.folder / (file.of.name + ".journal"));  // which has its segments' records
      return true;
    case LeftOut::Why::misnamed:
      if (file.rename.empty()) return false;
      give_own_name(file, done);
      return true;
    case LeftOut::Why::part_copy:
      if (!set_smaller_aside(log, file, done)) keep_own(log, file, done);
      return true;
    case LeftOut::Why::conflict:
      return false;  // which is true is not for a program to say: whoever knows takes the other away
  }
  return false;
}

}  // namespace

std::vector<LeftOut> find_left_out(const RunLog& log) {
  std::vector<LeftOut> found;
  LogWalk walk(log, [&](const LeftOut& file) { found.push_back(file); });
  for (const auto& stem : stems_of(log.folder)) {
    try {
      walk.read(stem, {.with_texts = false}, [](Record&&) {});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt) throw;
    }
  }
  return found;
}

void put_right(const RunLog& log, std::vector<Salvaged>& done) {
  for (int round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    for (const auto& file : find_left_out(log)) {
      // One may have been set aside on another's account meanwhile.
      std::error_code ignored;
      if (fs::exists(file.file, ignored)) changed = put_right(log, file, done) || changed;
    }
    if (!changed) return;
  }
}

}  // namespace nkigrid::log
