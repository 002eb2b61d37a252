#include "runner/log/rebuild.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/front_seal.hpp"
#include "runner/log/segment_builder.hpp"
#include "runner/log/set_aside.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

/// HDF5 opens no file that is shorter than it says of itself, though what was cut off may be little: a copy of the
/// stated length, removed at the end, or the file itself when it is not cut.
class WholeLength {
 public:
  explicit WholeLength(const fs::path& file) : path_(file) {
    const auto stated = stated_bytes(file);
    if (stated <= fs::file_size(file) || stated > kMostBytes) return;
    path_ += ".whole-length";
    fs::remove(path_);  // of a sealer that died, or a link that somebody put there: copy_file() makes a new one
    fs::copy_file(file, path_);
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

/// The records of a misfit that go into the new segment, and what is told of those that do not.
struct Kept {
  SegmentBuilder builder;
  Salvage saved;
  std::uint64_t records = 0, refused = 0, first = 0, last = 0;

  void add(const Misfit& misfit, std::uint64_t sequence, Record&& record) {
    if (misfit.keeps && !misfit.keeps(record)) {
      ++refused;
      return;
    }
    first = records == 0 ? sequence : std::min(first, sequence);
    last = std::max(last, sequence);
    ++records;
    builder.add(sequence, std::move(record));
  }
  std::string text() const {
    auto what = fmt::format("{} records saved", records);
    for (const auto& group : saved.lost_groups) what += fmt::format(", {} lost", group);
    if (saved.lost_rows > 0) what += fmt::format(", {} rows lost", saved.lost_rows);
    if (saved.lost_texts > 0) what += fmt::format(", {} texts lost", saved.lost_texts);
    if (refused > 0) what += fmt::format(", {} left out", refused);
    return what;
  }
  bool lost() const { return !saved.lost_groups.empty() || saved.lost_rows > 0 || saved.lost_texts > 0 || refused > 0; }
};

/// @returns false when nothing of the file can be told to be the run's
bool keep(const RunLog& log, const Misfit& misfit, const fs::path& file, Kept& kept) {
  try {
    const WholeLength whole(file);
    kept.saved = salvage_segment(
        whole.path(), [&](std::uint64_t sequence, Record&& record) { kept.add(misfit, sequence, std::move(record)); },
        log.key);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    kept.saved.lost_groups = {"everything"};
    return false;
  }
  if (kept.saved.says_whose && kept.saved.report.header.run_id == log.run_id) return true;
  kept.saved.lost_groups = {kept.saved.says_whose ? "everything (it is of another run)"
                                                  : "everything (it does not say of which run it is)"};
  return false;
}

std::optional<SegmentReport> head_of(const RunLog& log, const fs::path& file) {
  try {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return std::nullopt;
    auto head = read_segment_header(file, log.key);
    if (head.header.run_id == log.run_id) return head;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
  }
  return std::nullopt;
}

/// What the parts before carried to this one: it holds them, below its own range.
std::vector<std::uint64_t> records_before(const fs::path& part, const SealKey& key, std::uint64_t first) {
  std::vector<std::uint64_t> found;
  try {
    read_segment(
        part, {.with_texts = false},
        [&](std::uint64_t sequence, Record&&) {
          if (sequence < first) found.push_back(sequence);
        },
        key);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;  // it is looked at next
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Puts a part in the place of another: what it follows, and whose place it takes, as the next one expects it.
void chain_in(const RunLog& log, const Stem& stem, std::uint32_t part, SegmentReport& about) {
  const auto before = part > 1 ? head_of(log, part_path(log.folder, stem.name, part - 1)) : std::nullopt;
  const auto after = head_of(log, part_path(log.folder, stem.name, part + 1));
  about.previous = before ? before->seal : "";
  if (after && !after->previous.empty())
    about.instead_of = after->previous;
  else
    about.instead_of = about.seal;
}

void write_sealed(const RunLog& log, const fs::path& file, std::string_view content) {
  write_file_atomic(file, make_front(log.key, content) + std::string(content));
}

}  // namespace

Salvaged rebuild(const RunLog& log, const Misfit& misfit) {
  const auto file = part_path(log.folder, misfit.stem.name, misfit.part);
  std::optional<Kept> kept(std::in_place);
  if (!keep(log, misfit, file, *kept)) {
    auto lost = std::move(kept->saved.lost_groups);
    kept.emplace().saved.lost_groups = std::move(lost);
  }
  auto& about = kept->saved.report;
  about.header.run_id = log.run_id;
  about.journal = misfit.stem.name;
  about.part = misfit.part;
  if (about.seq_last == 0) about.seq_first = kept->first;
  if (misfit.part == 1 && kept->records > 0)
    about.seq_first = std::min(about.seq_first, kept->first);  // none is carried to it
  about.seq_last = std::max(about.seq_last, kept->last);
  const auto held = about.seq_last == 0 ? 0 : about.seq_last - about.seq_first + 1;
  about.missing_records += held > kept->records ? held - kept->records : 0;
  kept->builder.close_open();
  chain_in(log, misfit.stem, misfit.part, about);
  const auto bytes = kept->builder.finish(about);
  const auto what = misfit.why + "; " + kept->text();
  set_aside(file, {.reason = what, .records = kept->records, .missing_records = about.missing_records}, true);
  write_sealed(log, file, bytes);
  return {file, what, kept->lost() || about.missing_records > 0};
}

Salvaged replace_missing(const RunLog& log, const Misfit& gone) {
  const auto parts = parts_of(log.folder, gone.stem);
  const auto at = std::size_t{gone.part} - 1;
  SegmentReport about;
  if (at > 0) about = head_of(log, parts[at - 1]).value_or(about);
  const auto before = about.seq_last;
  std::optional<SegmentReport> after;
  std::vector<std::uint64_t> carried;
  for (auto next = at + 1; next < parts.size() && !after; ++next) {
    after = head_of(log, parts[next]);
    if (after) carried = records_before(parts[next], log.key, after->seq_first);
  }
  if (after && after->seq_first > before + 1) {
    about = *after;
    about.seq_first = before + 1, about.seq_last = after->seq_first - 1;
    about.missing_records = about.seq_last - before;
  } else {
    about.seq_first = about.seq_last = about.missing_records = 0;
  }
  about.header.run_id = log.run_id;
  about.journal = gone.stem.name;
  about.part = gone.part;
  about.damaged_bytes = 0;
  chain_in(log, gone.stem, gone.part, about);
  SegmentBuilder builder;
  write_sealed(log, parts[at], builder.finish(about, std::move(carried)));
  return {parts[at], fmt::format("{}; {} records lost", gone.why, about.missing_records), true};
}

}  // namespace nkigrid::log
