#include "runner/log/stopped_by.hpp"

#include <map>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/files.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kShownReasons = 3;
constexpr std::size_t kShownShards = 8;

std::string file_name(std::optional<ShardId> shard) { return shard ? fmt::format("shard-{}", shard->value) : std::string("all"); }

std::string shards_text(const std::vector<std::string>& names) {
  const std::vector<std::string> shown(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kShownShards, names.size())));
  return fmt::format("{}{}", fmt::join(shown, ", "), names.size() > kShownShards ? fmt::format(" and {} more", names.size() - kShownShards) : "");
}

}  // namespace

void note_stopped_by(const fs::path& log_folder, std::optional<ShardId> shard, const std::string& reason) {
  const auto folder = log_folder / "stopped_by";
  std::error_code ignored;
  if (!shard || !fs::is_directory(folder, ignored)) fs::remove_all(folder, ignored);
  fs::remove(folder / "all", ignored);
  fs::remove(folder / file_name(shard), ignored);
  if (reason.empty()) return;
  make_directories(folder);
  write_file_atomic(folder / file_name(shard), reason);
}

std::string read_stopped_by(const fs::path& log_folder) {
  std::map<std::string, std::vector<std::string>> shards_of;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(log_folder / "stopped_by", ignored)) {
    const auto name = entry.path().filename().native();
    if (name == "all" || name.rfind("shard-", 0) == 0) shards_of[read_file(entry.path())].push_back(name == "all" ? name : name.substr(6));
  }
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
