#include "jobs/own_run.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/text.hpp"
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

/// Of this very run as it stands: a note speaks neither for a run of the same name, whose sender has not its secrets,
/// nor for more episodes, other models or a larger budget.
std::string note_of(const Run& run, const std::string& secret) {
  Sha256 content;
  for (const auto& part : {run.run_id, run.secret, run.log_key, read_foreign_file(run.folder, "grid.yaml")})
    content.field(part);
  for (const auto& right : rights_of(run.grid)) content.field(right);
  return to_hex(hmac_sha256(secret, content.hex()));
}

/// As a shell would read it: what the environment says may be as much a command as the words.
std::vector<std::string> words_of(const ServerSpec& server) {
  std::vector<std::string> words;
  for (const auto& [name, text] : server.environment) words.push_back(fmt::format("{}={}", name, text));
  words.insert(words.end(), server.command.begin(), server.command.end());
  return words;
}

/// A word that its reader can tell from those beside it, in one line and of bounded length: what is signed is the grid.
std::string shown_word(const std::string& word) {
  constexpr std::string_view kPlain = "._/:=,+@%-${}";
  constexpr std::size_t kMostBytes = 400;
  const auto is_plain = [&](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && word.size() <= kMostBytes && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string line;
  for (const char c : shell_word(to_valid_utf8(word)))
    line += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  return elide_middle(line, kMostBytes);
}

std::string starts(const std::vector<std::string>& words) {
  constexpr std::size_t kMostBytes = 4000;
  std::string text = "starts";
  for (const auto& word : words) text += " " + shown_word(word);
  return elide_middle(text, kMostBytes);
}

/// What each backend has this machine run without walls. Every backend says: one that does not fails to compile.
std::vector<std::string> programs_of(const SimSpec&) { return {}; }
std::vector<std::string> programs_of(const NeuronSpec& neuron) {
  std::vector<std::string> programs;
  if (neuron.python != "auto") programs.push_back(starts({neuron.python}));
  if (neuron.libnrt != "auto") programs.push_back(fmt::format("loads {}", shown_word(neuron.libnrt)));
  return programs;
}
std::vector<std::string> programs_of(const CommandSpec& command) {
  return {starts(command.compile), starts(command.verify)};
}

/// A secret and the server that gets it: neither says enough alone.
void add_secret(std::vector<std::string>& rights, const KeySource& secret, const Remote& to) {
  switch (secret.kind) {
    case KeySource::Kind::none:
      return;
    case KeySource::Kind::env:
      return rights.push_back(fmt::format("sends ${} to {}", shown_word(secret.value), shown_word(to.endpoint)));
    case KeySource::Kind::file:
      return rights.push_back(fmt::format("sends {} to {}", shown_word(secret.value), shown_word(to.endpoint)));
    case KeySource::Kind::command:
      return rights.push_back(
          fmt::format("{}, sends what it prints to {}", starts(secret.command), shown_word(to.endpoint)));
  }
}

}  // namespace

std::vector<std::string> rights_of(const Grid& grid, UsedPart part) {
  auto rights = std::visit([](const auto& backend) { return programs_of(backend); }, grid.device.backend);
  for (const auto& model : grid.models) {
    if (part == UsedPart::device) break;
    if (const auto* server = own_server(model.api)) rights.push_back(starts(words_of(*server)));
    const auto* remote = remote_of(model.api);
    if (remote == nullptr) continue;
    add_secret(rights, remote->key, *remote);
    for (const auto& header : remote->headers) add_secret(rights, header.secret, *remote);
    const auto* bedrock = std::get_if<Bedrock>(&model.api);
    if (bedrock != nullptr && remote->key.kind == KeySource::Kind::none)
      rights.push_back(fmt::format("proves to {} that it has the AWS account {}", shown_word(remote->endpoint),
                                   bedrock->account.empty() ? "of your environment" : shown_word(bedrock->account)));
  }
  return rights;
}

void mark_as_own(const Run& run) {
  const auto state = state_folder();
  if (state.empty() || rights_of(run.grid).empty()) return;
  try {
    make_directories(state);
    write_file_atomic(run.folder / kNoteFile, note_of(run, make_secret(state)) + "\n");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::io) throw;  // a home that cannot be written: the run is asked about later
  }
}

bool is_own(const Run& run, UsedPart part) {
  if (rights_of(run.grid, part).empty()) return true;
  const auto state = state_folder();
  if (state.empty() || !has_foreign_file(run.folder, kNoteFile)) return false;
  const auto secret = read_secret(state);
  return !secret.empty() && read_foreign_file(run.folder, kNoteFile) == note_of(run, secret) + "\n";
}

}  // namespace nkigrid::jobs
