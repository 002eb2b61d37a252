#include "runner/log/set_aside.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/json_depth.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostAsideBytes = std::size_t{1} << 20;

/// A name that nothing in the folder has: a file of the same name may have come here before.
fs::path free_name(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  auto path = folder / name;
  for (int n = 2; fs::exists(path, ignored) || fs::exists(path.native() + ".json", ignored); ++n)
    path = folder / fmt::format("{}.{}", name, n);
  return path;
}

}  // namespace

void set_aside(const fs::path& file, const Note& note, bool keep) {
  const auto folder = file.parent_path() / "damaged";
  make_directories(folder);
  const auto to = free_name(folder, file.filename().native());
  const nlohmann::ordered_json json = {{"version", 1},
                                       {"file", to.filename().native()},
                                       {"reason", to_valid_utf8(note.reason)},
                                       {"records", note.records},
                                       {"damaged_bytes", note.damaged_bytes},
                                       {"missing_records", note.missing_records}};
  write_file_atomic(to.native() + ".json", json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  const int moved = keep ? ::link(file.c_str(), to.c_str()) : ::rename(file.c_str(), to.c_str());
  if (moved != 0) {
    const int error = errno;
    ::unlink((to.native() + ".json").c_str());
    throw_errno(error, "set aside", file.native());
  }
  fsync_directory(folder);
  fsync_directory(file.parent_path());
}

std::vector<Note> read_notes(const fs::path& folder) {
  std::vector<Note> notes;
  std::error_code error;
  fs::directory_iterator entries(folder / "damaged", error);
  if (error == std::errc::no_such_file_or_directory) return notes;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() != ".json") continue;
    const auto text = read_foreign_file(folder / "damaged", entries->path().filename(), kMostAsideBytes);
    const auto json = nlohmann::json::parse(shallow_part(text), nullptr, false);
    Note note;
    note.file = entries->path().stem().native();
    try {
      note.reason = json.value("reason", "");
      note.records = json.value("records", std::uint64_t{0});
      note.damaged_bytes = json.value("damaged_bytes", std::uint64_t{0});
      note.missing_records = json.value("missing_records", std::uint64_t{0});
    } catch (const nlohmann::json::exception&) {
      note.reason = "(its note cannot be read)";
    }
    notes.push_back(std::move(note));
  }
  if (error) throw_errno(error.value(), "read folder", (folder / "damaged").native());
  std::sort(notes.begin(), notes.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
  return notes;
}

}  // namespace nkigrid::log
