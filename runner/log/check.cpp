#include "runner/log/check.hpp"

#include <system_error>

#include "jobs/base/error.hpp"
#include "runner/log/derived_columns.hpp"
#include "runner/log/folder.hpp"
#include "runner/log/journal_reader.hpp"
#include "runner/log/segment_reader.hpp"

namespace nkigrid::log {
namespace {

template <class Read>
FileCheck checked(const std::filesystem::path& file, Read read) {
  FileCheck check;
  check.file = file;
  try {
    read(check);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    check.error = error.what();
  }
  return check;
}

void check_journal(FileCheck& check) {
  const auto report = read_journal(check.file, [](std::uint64_t, Record&&) {});
  check.records = report.records;
  check.first_sequence = report.first_sequence;
  check.last_sequence = report.last_sequence;
  check.torn_tail_bytes = report.torn_tail_bytes;
  check.damaged_bytes = report.damaged_bytes;
  check.missing_records = report.missing_records;
}

void check_segment(FileCheck& check) {
  check.is_sealed = true;
  prove_derived_columns(check.file);
  const auto report = read_segment(check.file, Selection{}, [&](std::uint64_t, Record&&) { ++check.records; });
  check.first_sequence = report.seq_first;
  check.last_sequence = report.seq_last;
  check.damaged_bytes = report.damaged_bytes;
  check.missing_records = report.missing_records;
}

}  // namespace

std::vector<FileCheck> check_log(const std::filesystem::path& folder) {
  std::vector<FileCheck> checks;
  for (const auto& stem : stems_of(folder)) {
    for (const auto& part : parts_of(folder, stem)) {
      const auto missing = why_missing(part);
      checks.push_back(missing.empty() ? checked(part, check_segment)
                                       : FileCheck{.file = part, .is_sealed = true, .error = missing});
    }
    std::error_code ignored;
    const auto journal = folder / (stem.name + ".journal");
    if (std::filesystem::exists(journal, ignored)) checks.push_back(checked(journal, check_journal));
  }
  return checks;
}

}  // namespace nkigrid::log
