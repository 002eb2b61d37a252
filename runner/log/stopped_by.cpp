#include "runner/log/stopped_by.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kRoom = 4096;  ///< [B] of a note
constexpr std::string_view kShard = "shard-";
constexpr std::size_t kShownReasons = 3;
constexpr std::size_t kShownShards = 8;

std::string file_name(std::optional<ShardId> shard) {
  return shard ? fmt::format("shard-{}", shard->value) : std::string("all");
}

std::string shards_text(const std::vector<std::string>& names) {
  const std::vector<std::string> shown(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kShownShards, names.size())));
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     names.size() > kShownShards ? fmt::format(" and {} more", names.size() - kShownShards) : "");
}

/// File name -> reason, of every note that says one.
std::map<std::string, std::string> stop_notes(const fs::path& log_folder) {
  std::map<std::string, std::string> notes;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(log_folder / "stopped_by", ignored)) {
    const auto name = entry.path().filename().native();
    if (name != "all" && name.rfind(kShard, 0) != 0) continue;
    auto reason = read_foreign_file(log_folder / "stopped_by", name);
    reason.resize(reason.find_last_not_of(" \n") + 1);  // npos + 1 is 0: room alone
    if (!reason.empty()) notes[name] = std::move(reason);
  }
  return notes;
}

/// Always the same bytes of the same block: what overwrites them needs no space that a full disk would refuse.
void write_in_place(const fs::path& path, const std::string& reason) {
  auto text = elide_middle(to_valid_utf8(reason), kRoom - 1);
  text.resize(kRoom - 1, ' ');
  text += '\n';
  Fd file = open_own_file(path, O_WRONLY);
  write_all(file.get(), text, path);
  if (::fdatasync(file.get()) != 0) throw_errno(errno, "sync", path.native());
  file.close();
}

}  // namespace

void note_stopped_by(const fs::path& log_folder, std::optional<ShardId> shard, const std::string& reason) {
  const auto folder = log_folder / "stopped_by";
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) fs::remove(folder, ignored);
  make_directories(folder);
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().native();
    if (name != file_name(shard) && (!shard || name == "all")) fs::remove(entry.path(), ignored);
  }
  write_in_place(folder / file_name(shard), reason);
}

void note_failure(const fs::path& log_folder, std::optional<ShardId> shard, const std::string& reason) noexcept {
  try {
    note_stopped_by(log_folder, shard, reason);
  } catch (const std::exception&) {
    // The failure itself is on its way to the user.
  }
}

std::map<std::uint32_t, double> stopped_shards(const fs::path& log_folder) {
  std::map<std::uint32_t, double> stopped;
  for (const auto& [name, note] : stop_notes(log_folder)) {
    struct stat about = {};
    if (name == "all" || ::stat((log_folder / "stopped_by" / name).c_str(), &about) != 0) continue;
    const auto seconds = static_cast<double>(about.st_mtim.tv_sec) + 1e-9 * static_cast<double>(about.st_mtim.tv_nsec);
    stopped[static_cast<std::uint32_t>(std::strtoul(name.c_str() + kShard.size(), nullptr, 10))] = seconds;
  }
  return stopped;
}

std::string read_stopped_by(const fs::path& log_folder) {
  std::map<std::string, std::vector<std::string>> shards_of;
  for (const auto& [name, reason] : stop_notes(log_folder))
    shards_of[reason].push_back(name == "all" ? name : name.substr(kShard.size()));
  if (shards_of.empty()) return {};
  if (shards_of.size() == 1) return shards_of.begin()->first;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [reason, names] : shards_of) {
    if (shown++ == kShownReasons) return text + fmt::format("; and {} more reasons", shards_of.size() - kShownReasons);
    text += fmt::format("{}shards {}: {}", text.empty() ? "" : "; ", shards_text(names), reason);
  }
  return text;
}

}  // namespace nkigrid::log
