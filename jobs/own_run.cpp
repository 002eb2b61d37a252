#include "jobs/own_run.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/run_secret.hpp"

namespace nkigrid::jobs {
namespace {

constexpr const char* kNoteFile = "made_by";

/// "" for a user without a home.
std::filesystem::path state_folder() {
  const auto named = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value != nullptr && *value == '/' ? value : "");
  };
  if (const auto state = named("XDG_STATE_HOME"); !state.empty()) return state / "nkigrid";
  const auto home = named("HOME");
  return home.empty() ? home : home / ".local/state/nkigrid";
}

std::string note_of(const Run& run, const std::string& secret) {
  Sha256 content;
  content.field(run.run_id);
  for (const auto& command : commands_of(run.grid)) content.field(command);
  return to_hex(hmac_sha256(secret, content.hex()));
}

/// As a shell would read it: what the environment says may be as much a command as the words.
std::vector<std::string> words_of(const ServerSpec& server) {
  std::vector<std::string> words;
  for (const auto& [name, text] : server.environment) words.push_back(fmt::format("{}={}", name, text));
  words.insert(words.end(), server.command.begin(), server.command.end());
  return words;
}

}  // namespace

std::vector<std::string> commands_of(const Grid& grid) {
  std::vector<std::string> commands;
  for (const auto& model : grid.models) {
    const auto* remote = remote_of(model.api);
    if (remote != nullptr && remote->key.kind == KeySource::Kind::command)
      commands.push_back(fmt::format("{}", fmt::join(remote->key.command, " ")));
    if (const auto* server = own_server(model.api))
      commands.push_back(fmt::format("{}", fmt::join(words_of(*server), " ")));
  }
  if (const auto* programs = std::get_if<CommandSpec>(&grid.device.backend)) {
    commands.push_back(fmt::format("{}", fmt::join(programs->compile, " ")));
    commands.push_back(fmt::format("{}", fmt::join(programs->verify, " ")));
  }
  return commands;
}

void mark_as_own(const Run& run) {
  const auto state = state_folder();
  if (state.empty() || commands_of(run.grid).empty()) return;
  try {
    make_directories(state);
    write_file_atomic(run.folder / kNoteFile, note_of(run, make_secret(state)) + "\n");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::io) throw;  // a home that cannot be written: the run is asked about later
  }
}

bool is_own(const Run& run) {
  if (commands_of(run.grid).empty()) return true;
  const auto state = state_folder();
  if (state.empty() || !has_foreign_file(run.folder, kNoteFile)) return false;
  const auto secret = read_secret(state);
  return !secret.empty() && read_foreign_file(run.folder, kNoteFile) == note_of(run, secret) + "\n";
}

}  // namespace nkigrid::jobs
