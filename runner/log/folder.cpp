#include "runner/log/folder.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "jobs/base/error.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPart = ".part";

/// "a.part2" is of "a".
std::string without_part(const std::string& stem) {
  const auto at = stem.rfind(kPart);
  if (at == std::string::npos || at == 0) return stem;
  const auto number = std::string_view(stem).substr(at + kPart.size());
  const bool is_part = !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  return is_part ? stem.substr(0, at) : stem;
}

}  // namespace

std::vector<std::string> stems_of(const fs::path& folder) {
  std::vector<std::string> stems;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory) return stems;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().native();
    const auto ending = entries->path().extension();
    if (name.starts_with('.') || (ending != ".journal" && ending != ".h5")) continue;
    stems.push_back(without_part(entries->path().stem().native()));
  }
  if (error) throw_errno(error.value(), "read folder", folder.native());
  std::sort(stems.begin(), stems.end());
  stems.erase(std::unique(stems.begin(), stems.end()), stems.end());
  return stems;
}

fs::path part_path(const fs::path& folder, const std::string& stem, std::uint32_t part) {
  return folder / (part == 1 ? stem + ".h5" : fmt::format("{}{}{}.h5", stem, kPart, part));
}

void Coverage::add(const SegmentReport& part) {
  if (part.seq_last == 0) return;
  if (first_ == 0) first_ = part.seq_first;
  last_ = part.seq_last;
  carried_ = part.carried;
}

bool Coverage::covers(std::uint64_t sequence) const noexcept {
  return sequence >= first_ && sequence <= last_ && !std::binary_search(carried_.begin(), carried_.end(), sequence);
}

StemReport read_stem(const fs::path& folder, const std::string& stem, const Selection& selection,
                     const std::function<SegmentReport(const fs::path&)>& segment,
                     const std::function<void(Record&&)>& record) {
  const auto journal = folder / (stem + ".journal");
  const Fd fd(::open(journal.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno != ENOENT) throw_errno(errno, "open journal", journal.native());

  StemReport report;
  Coverage coverage;
  std::error_code ignored;
  for (std::uint32_t part = 1; fs::exists(part_path(folder, stem, part), ignored); ++part) {
    report.segments.push_back(segment(part_path(folder, stem, part)));
    coverage.add(report.segments.back());
  }
  if (fd) {
    report.journal = read_journal(fd, journal, selection, [&](std::uint64_t sequence, Record&& entry) {
      if (coverage.covers(sequence))
        ++report.skipped;
      else
        record(std::move(entry));
    });
  }
  return report;
}

StemReport read_stem(const fs::path& folder, const std::string& stem, const Selection& selection,
                     const std::function<void(Record&&)>& visit) {
  const auto segment = [&](const fs::path& file) {
    return read_segment(file, selection, [&](std::uint64_t, Record&& record) { visit(std::move(record)); });
  };
  return read_stem(folder, stem, selection, segment, visit);
}

}  // namespace nkigrid::log
