#include "runner/log/salvage.hpp"

#include <fmt/core.h>

#include <array>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/derived_columns.hpp"
#include "runner/log/framing.hpp"
#include "runner/log/journal_reader.hpp"
#include "runner/log/sealer.hpp"
#include "runner/log/set_aside.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

std::string why_unreadable(const fs::path& file) {
  try {
    if (file.extension() == ".journal")
      read_journal(file, [](std::uint64_t, Record&&) {});
    else
      read_segment(file, {}, [](std::uint64_t, Record&&) {}), prove_derived_columns(file);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    return error.what();
  }
  return {};
}

/// HDF5 opens no file that is shorter than it says of itself, though what was cut off may be little: a copy of the
/// stated length, removed at the end, or the file itself when it is not cut.
class WholeLength {
 public:
  explicit WholeLength(const fs::path& file) : path_(file) {
    const auto stated = stated_bytes(file);
    if (stated <= fs::file_size(file) || stated > kMostBytes) return;
    path_ += ".whole-length";
    fs::copy_file(file, path_, fs::copy_options::overwrite_existing);
    fs::resize_file(path_, stated);
    is_copy_ = true;
  }
  ~WholeLength() {
    std::error_code ignored;
    if (is_copy_) fs::remove(path_, ignored);
  }
  WholeLength(const WholeLength&) = delete;
  WholeLength& operator=(const WholeLength&) = delete;
  const fs::path& path() const noexcept { return path_; }

 private:
  static constexpr std::uint64_t kMostBytes = 16ULL << 30;  // a damaged superblock may state anything

  /// The end-of-file address of superblock versions 2 and 3, or 0. @source HDF5 File Format Specification 3.0, II.A
  static std::uint64_t stated_bytes(const fs::path& file) {
    std::array<unsigned char, 36> head = {};
    std::ifstream in(file, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(head.data()), head.size()) || head[8] < 2 || head[8] > 3 || head[9] != 8)
      return 0;
    std::uint64_t end = 0;
    for (std::size_t i = 8; i-- > 0;) end = end << 8 | head[28 + i];
    return end;
  }

  fs::path path_;
  bool is_copy_ = false;
};

/// What is whole of a segment whose journal is gone goes into a new one of its name.
Salvaged rebuild(const fs::path& file, const std::string& why) {
  SegmentBuilder builder;
  Salvage saved;
  std::uint64_t records = 0;
  try {
    const WholeLength whole(file);
    saved = salvage_segment(whole.path(), [&](std::uint64_t sequence, Record&& record) {
      ++records;
      builder.add(sequence, std::move(record));
    });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    saved.lost_groups = {"everything"};
  }
  auto what = fmt::format("{} records saved", records);
  for (const auto& group : saved.lost_groups) what += fmt::format(", {} lost", group);
  if (saved.lost_rows > 0) what += fmt::format(", {} rows lost", saved.lost_rows);
  if (saved.lost_texts > 0) what += fmt::format(", {} texts lost", saved.lost_texts);
  builder.close_open();
  auto& about = saved.report;
  if (about.journal.empty()) about.journal = file.stem().native();
  const auto held = about.seq_last == 0 ? 0 : about.seq_last - about.seq_first + 1;
  about.missing_records += held > records ? held - records : 0;
  const auto bytes = builder.finish(about);
  set_aside(file, {.reason = why + "; " + what, .records = records, .missing_records = about.missing_records}, true);
  write_file_atomic(file, bytes);
  const bool lost =
      !saved.lost_groups.empty() || saved.lost_rows > 0 || saved.lost_texts > 0 || about.missing_records > 0;
  return {file, why + "; " + what, lost};
}

std::optional<SegmentReport> header_of(const fs::path& file) {
  if (!why_missing(file).empty() || !why_unreadable(file).empty()) return std::nullopt;
  return read_segment_header(file);
}

/// A part that is gone, with its journal: an empty one of its name says how many records it held.
Salvaged replace_missing(const std::vector<fs::path>& parts, std::size_t at, const std::string& stem,
                         const std::string& why) {
  SegmentReport about;
  if (at > 0) about = header_of(parts[at - 1]).value_or(about);
  const auto before = about.seq_last;
  std::optional<SegmentReport> after;
  for (auto next = at + 1; next < parts.size() && !after; ++next) after = header_of(parts[next]);
  if (after && after->seq_first > before + 1) {
    about = *after;
    about.seq_first = before + 1, about.seq_last = after->seq_first - 1;
    about.missing_records = about.seq_last - before;
  } else {
    about.seq_first = about.seq_last = about.missing_records = 0;
  }
  about.journal = stem;
  about.damaged_bytes = 0;
  about.carried.clear();
  write_file_atomic(parts[at], SegmentBuilder().finish(about));
  return {parts[at], fmt::format("{}; {} records lost", why, about.missing_records), true};
}

}  // namespace

std::vector<Salvaged> salvage(const fs::path& folder) {
  std::vector<Salvaged> done;
  std::error_code ignored;
  for (const auto& stem : stems_of(folder)) {
    const auto journal = folder / (stem.name + ".journal");
    bool has_journal = fs::exists(journal, ignored);
    if (has_journal) {
      const auto why = why_unreadable(journal);
      if (!why.empty() && !is_journal_of_other_version(journal)) {
        set_aside(journal, {.reason = why});
        done.push_back({journal, why});
      }
      has_journal = why.empty();
    }
    const auto parts = parts_of(folder, stem);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto& file = parts[i];
      const auto missing = why_missing(file);
      const auto why = missing.empty() ? why_unreadable(file) : missing;
      if (why.empty() || (missing.empty() && is_other_version(file))) continue;
      if (has_journal) {  // it makes this part, and those after it, anew
        set_parts_aside(folder, stem, static_cast<std::uint32_t>(i + 1), why);
        done.push_back({file, why + "; it is made anew from its journal"});
        break;
      }
      if (missing.empty())
        done.push_back(rebuild(file, why));
      else
        done.push_back(replace_missing(parts, i, stem.name, why));
    }
  }
  return done;
}

}  // namespace nkigrid::log
