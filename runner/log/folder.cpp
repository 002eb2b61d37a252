#include "runner/log/folder.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "jobs/base/error.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;

std::vector<std::string> stems_of(const fs::path& folder) {
  std::vector<std::string> stems;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory) return stems;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().native();
    const auto ending = entries->path().extension();
    if (name.starts_with('.') || (ending != ".journal" && ending != ".h5")) continue;
    stems.push_back(entries->path().stem().native());
  }
  if (error) throw_errno(error.value(), "read folder", folder.native());
  std::sort(stems.begin(), stems.end());
  stems.erase(std::unique(stems.begin(), stems.end()), stems.end());
  return stems;
}

StemReport read_stem(const fs::path& folder, const std::string& stem, const Selection& selection,
                     const std::function<void(Record&&)>& visit) {
  const auto journal = folder / (stem + ".journal");
  const auto segment = folder / (stem + ".h5");
  const Fd fd(::open(journal.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno != ENOENT) throw_errno(errno, "open journal", journal.native());

  StemReport report;
  std::error_code ignored;
  if (fs::exists(segment, ignored)) {
    report.segment =
        read_segment(segment, selection, [&](std::uint64_t, Record&& record) { visit(std::move(record)); });
  }
  if (fd) {
    report.journal = read_journal(fd, journal, selection, [&](std::uint64_t sequence, Record&& record) {
      if (report.segment && report.segment->covers(sequence))
        ++report.skipped;
      else
        visit(std::move(record));
    });
  }
  return report;
}

}  // namespace nkigrid::log
