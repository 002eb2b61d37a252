#include "runner/log/endpoint_notes.hpp"

#include <fcntl.h>

#include <exception>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

const char* folder_of(EndpointNote kind) { return kind == EndpointNote::away ? "endpoints" : "narrowed"; }

}  // namespace

void note_endpoint(const fs::path& log_folder, std::optional<ShardId> shard, const std::string& model,
                   const std::string& text, EndpointNote kind) noexcept {
  try {
    const auto folder = log_folder / folder_of(kind);
    const auto path = folder / fmt::format("{}.{}", shard ? fmt::format("shard-{}", shard->value) : "all", model);
    std::error_code ignored;
    if (text.empty()) {
      fs::remove(path, ignored);
      return;
    }
    make_directories(folder);
    write_all(open_own_file(path, O_WRONLY | O_TRUNC).get(), text,
              path);  // no atomic write: its other file would read as another model
  } catch (const std::exception&) {
  }
}

std::map<std::string, std::string> read_endpoint_notes(const fs::path& log_folder, EndpointNote kind) {
  const auto folder = log_folder / folder_of(kind);
  std::map<std::string, std::string> notes;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().native();
    const auto dot = name.find('.');
    if (dot == std::string::npos) continue;
    try {
      if (auto text = read_foreign_file(folder, name); !text.empty()) notes[name.substr(dot + 1)] = std::move(text);
    } catch (const std::exception&) {
      // Cleared between the listing and the look.
    }
  }
  return notes;
}

}  // namespace nkigrid::log
