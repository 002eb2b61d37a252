#include "runner/log/server_notes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <sstream>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/foreign_tail.hpp"
#include "jobs/base/json_depth.hpp"
#include "jobs/base/key_like.hpp"
#include "jobs/base/text.hpp"
#include "runner/log/file_lock.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> kStates = {"starting", "healthy", "ended", "failed"};
constexpr std::size_t kMostNoteBytes = 1 << 16;

fs::path servers_folder(const fs::path& log_folder) { return log_folder / "servers"; }

/// "all.qwen.0" of a note's file; nothing for what is none.
std::optional<ServerName> name_of_note(const fs::path& file) {
  if (file.extension() != ".json") return std::nullopt;
  const auto stem = file.stem().native();
  const auto first = stem.find('.'), last = stem.rfind('.');
  if (first == std::string::npos || last <= first) return std::nullopt;
  ServerName name{stem.substr(0, first), stem.substr(first + 1, last - first - 1), 0};
  const auto* end = stem.data() + stem.size();
  const auto [at, error] = std::from_chars(stem.data() + last + 1, end, name.replica);
  return error == std::errc() && at == end ? std::optional(name) : std::nullopt;
}

ServerNote note_from(const json& read) {
  ServerNote note;
  const auto state = std::find(kStates.begin(), kStates.end(), read.at("state").get<std::string>());
  if (state == kStates.end()) throw std::invalid_argument("state");
  note.state = static_cast<ServerNote::State>(state - kStates.begin());
  note.address = read.at("address");
  note.job = read.at("job");
  note.text = read.at("text");
  note.starts = read.at("starts");
  note.since = read.at("since");
  return note;
}

}  // namespace

std::string_view to_string(ServerNote::State state) noexcept { return kStates[static_cast<std::size_t>(state)]; }

fs::path server_file(const fs::path& log_folder, const ServerName& name, const std::string& suffix) {
  return servers_folder(log_folder) / fmt::format("{}.{}.{}{}", name.owner, name.server, name.replica, suffix);
}

void note_server(const fs::path& log_folder, const ServerName& name, const ServerNote& note) {
  make_directories(servers_folder(log_folder));
  const json written = {
      {"version", 1},      {"state", to_string(note.state)}, {"address", note.address}, {"job", note.job},
      {"text", note.text}, {"starts", note.starts},          {"since", note.since}};
  write_file_atomic(server_file(log_folder, name, ".json"),
                    written.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

std::optional<ServerNote> read_server_note(const fs::path& log_folder, const ServerName& name) {
  try {
    const auto path = server_file(log_folder, name, ".json");
    const auto text = read_foreign_file(path.parent_path(), path.filename(), kMostNoteBytes);
    return note_from(json::parse(shallow_part(text)));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void forget_server(const fs::path& log_folder, const ServerName& name) noexcept {
  try {
    std::error_code ignored;
    fs::remove(server_file(log_folder, name, ".json"), ignored);
  } catch (const std::exception&) {
  }
}

std::vector<NamedServer> living_servers(const fs::path& log_folder) {
  std::vector<NamedServer> servers;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(servers_folder(log_folder), ignored)) {
    const auto name = name_of_note(entry.path().filename());
    if (!name || !is_locked(server_file(log_folder, *name, ".lock"))) continue;
    if (auto note = read_server_note(log_folder, *name)) servers.push_back({*name, std::move(*note)});
  }
  std::sort(servers.begin(), servers.end(), [](const auto& a, const auto& b) {
    return std::tie(a.name.owner, a.name.server, a.name.replica) <
           std::tie(b.name.owner, b.name.server, b.name.replica);
  });
  return servers;
}

std::string end_of_server_log(const fs::path& log_folder, const ServerName& name) {
  constexpr std::size_t kTail = 4096, kLines = 5, kMostBytes = 800;
  const auto output = server_file(log_folder, name, ".out");
  std::istringstream file(foreign_tail(output.parent_path(), output.filename(), kTail));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(strip_terminal_codes(line));
  }
  if (lines.size() > kLines) lines.erase(lines.begin(), lines.end() - kLines);
  return elide_middle(printable(without_key_like(fmt::format("{}", fmt::join(lines, " | ")))), kMostBytes);
}

}  // namespace nkigrid::log
