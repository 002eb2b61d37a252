#include "runner/log/check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <unordered_map>

#include "jobs/base/error.hpp"
#include "runner/log/derived_columns.hpp"
#include "runner/log/folder.hpp"
#include "runner/log/hidden.hpp"
#include "runner/log/journal_reader.hpp"
#include "runner/log/put_right.hpp"
#include "runner/log/same_records.hpp"
#include "runner/log/segment_reader.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

using LeftOuts = std::map<fs::path, LeftOut>;

template <class Read>
FileCheck checked(const fs::path& file, const LeftOuts& left_outs, Read read) {
  FileCheck check;
  check.file = file;
  try {
    read(check);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    check.error = error.what();
  }
  const auto left = left_outs.find(file);
  if (left == left_outs.end()) return check;
  const auto why = left->second.why;
  check.is_beyond_saving =
      why == LeftOut::Why::conflict || why == LeftOut::Why::unproven || why == LeftOut::Why::foreign;
  // Whose a file is, is more than what is wrong in it.
  if (check.error.empty() || why == LeftOut::Why::unproven || why == LeftOut::Why::foreign)
    (why == LeftOut::Why::copy ? check.left_out : check.error) = left->second.text();
  return check;
}

/// An attempt ends once. Two ends in one file are no copy of each other by its writer's doing: which is true cannot be
/// told.
class Ends {
 public:
  explicit Ends(const fs::path& file) : file_(file) {}
  void add(const Record& record) {
    const auto* end = std::get_if<End>(&record);
    if (end == nullptr) return;
    const auto [at, is_new] = digests_.emplace(name_of(record), digest_of(record));
    if (is_new || at->second == digest_of(record)) return;
    throw Error(
        ErrorCode::corrupt,
        fmt::format("'{}' holds two ends of attempt {} of {} that differ, and which is true cannot be told; move "
                    "the file out of the folder, and `nkigrid resume` runs again what it alone held",
                    file_.native(), end->id.attempt, to_string(end->id.episode)));
  }

 private:
  fs::path file_;
  std::unordered_map<std::size_t, std::size_t> digests_;  ///< by name_of()
};

void check_journal(FileCheck& check, const SealKey& key) {
  Ends ends(check.file);
  const auto report = read_journal(
      check.file, [&](std::uint64_t, Record&& record) { ends.add(record); }, key);
  check.records = report.records;
  check.first_sequence = report.first_sequence;
  check.last_sequence = report.last_sequence;
  check.torn_tail_bytes = report.torn_tail_bytes;
  check.damaged_bytes = report.damaged_bytes;
  check.missing_records = report.missing_records;
}

/// @param before of the parts before it; it is added
void check_segment(FileCheck& check, const SealKey& key, Coverage& before) {
  check.is_sealed = true;
  std::set<std::uint64_t> seen;
  const auto head = read_segment_header(check.file, key);
  Ends ends(check.file);
  const auto report = read_segment(
      check.file, {},
      [&](std::uint64_t sequence, Record&& record) {
        ends.add(record);
        if (!seen.insert(sequence).second)
          throw Error(ErrorCode::corrupt,
                      fmt::format("segment '{}' holds record {} twice", check.file.native(), sequence));
        prove_range(check.file, head, before, sequence);
        ++check.records;
      },
      key);
  check.first_sequence = report.seq_first;
  check.last_sequence = report.seq_last;
  check.damaged_bytes = report.damaged_bytes;
  check.missing_records = report.missing_records;
  prove_derived_columns(check.file, key);
  before.add(head);
}

/// A part that is not there is missing where one that counts comes after it.
bool is_missing(const std::vector<fs::path>& parts, std::size_t at, const LeftOuts& left_outs) {
  return std::any_of(parts.begin() + static_cast<std::ptrdiff_t>(at), parts.end(),
                     [&](const auto& part) { return why_missing(part).empty() && !left_outs.contains(part); });
}

}  // namespace

std::vector<FileCheck> check_log(const RunLog& log) {
  LeftOuts left_outs;
  for (auto& left : find_left_out(log)) left_outs.try_emplace(left.file, left);
  std::vector<FileCheck> checks;
  for (const auto& stem : stems_of(log.folder)) {
    const auto parts = parts_of(log.folder, stem);
    Coverage before;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto missing = why_missing(parts[i]);
      if (missing.empty())
        checks.push_back(
            checked(parts[i], left_outs, [&](FileCheck& check) { check_segment(check, log.key, before); }));
      else if (is_missing(parts, i, left_outs))
        checks.push_back({.file = parts[i], .is_sealed = true, .error = missing});
      if (!missing.empty()) before.lose();
    }
    std::error_code ignored;
    const auto journal = log.folder / (stem.name + ".journal");
    if (fs::exists(journal, ignored))
      checks.push_back(checked(journal, left_outs, [&](FileCheck& check) {
        check_journal(check, log.key);
        prove_nothing_hidden(log, stem);
      }));
  }
  return checks;
}

}  // namespace nkigrid::log
