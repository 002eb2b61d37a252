#include "jobs/grid/apis.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/base/key_like.hpp"
#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/folders.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

/// `~/x` is the user's home; another relative path is the grid file's neighbour.
std::string absolute_key_path(const std::string& path, const Folders& folders) {
  if (path.rfind("~/", 0) == 0) {
    const char* home = std::getenv("HOME");
    return home == nullptr ? path : (fs::path(home) / path.substr(2)).lexically_normal().native();
  }
  return fs::absolute(folders.base / path).lexically_normal().native();
}

bool is_variable(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

/// A word of the section `key`. No message repeats one, for it may be the key itself, which would stand in the frozen
/// grid as well.
std::optional<std::string> read_key_word(const YamlNode& node, const std::string& path, Problems& problems) {
  const bool is_text = node.kind == YamlNode::Kind::scalar;
  if (is_text && !looks_like_key(node.text)) return read_text(node, path, problems);
  problems.add(node.place, fmt::format("{} is {} (not shown here); a key itself never stands in a grid", path,
                                       is_text ? "a key" : "no text"));
  return std::nullopt;
}

KeySource read_key_variable(const YamlNode& node, const std::string& path, Problems& problems) {
  const auto name = read_key_word(node, path, problems);
  if (name && !is_variable(*name))
    problems.add(node.place, fmt::format("{} is no name of an environment variable (letters, digits and _ are wanted; "
                                         "not shown here: a key itself never stands in a grid)",
                                         path));
  return {KeySource::Kind::env, name.value_or(""), {}};
}

KeySource read_key_command(const YamlNode& node, const std::string& path, Problems& problems) {
  KeySource source{.kind = KeySource::Kind::command, .value = {}, .command = {}};
  if (node.kind != YamlNode::Kind::list)
    problems.add(node.place, fmt::format("{} is no list (a list of words is wanted: no shell reads it)", path));
  else
    for (const auto& item : node.items) source.command.push_back(read_key_word(item, path, problems).value_or(""));
  return source;
}

KeySource read_key(const YamlNode& node, const std::string& path, const Folders& folders, Problems& problems) {
  if (node.kind != YamlNode::Kind::map) {
    problems.add(node.place, fmt::format("{} is no map (one of {{env: NAME}}, {{file: PATH}} and {{command: [word, "
                                         "...]}} is wanted; not shown here: a key itself never stands in a grid)",
                                         path));
    return {};
  }
  KeySource source;
  Fields fields(node, path, problems);
  const auto* env = fields.find("env");
  const auto* file = fields.find("file");
  const auto* command = fields.find("command");
  if ((env != nullptr) + (file != nullptr) + (command != nullptr) != 1)
    problems.add(node.place, fmt::format("{} must have exactly one of env, file and command", path));
  if (env != nullptr) source = read_key_variable(*env, fields.path_of("env"), problems);
  if (file != nullptr) {
    const auto name = read_key_word(*file, fields.path_of("file"), problems);
    if (name) source = {KeySource::Kind::file, absolute_key_path(*name, folders), {}};
  }
  if (command != nullptr) source = read_key_command(*command, fields.path_of("command"), problems);
  fields.finish();
  return source;
}

/// Why a text is no base URL of a server, or "". A user's name or password in it would stand in the frozen grid.
std::string_view endpoint_fault(std::string_view text) {
  const auto scheme = text.rfind("http://", 0) == 0 ? 7U : text.rfind("https://", 0) == 0 ? 8U : 0U;
  if (scheme == 0) return "http:// or https:// is wanted";
  if (text.find_first_of(" \t\n\"'<>?#") != std::string_view::npos)
    return "a URL has no blanks, quotes, query or fragment here";
  auto host = text.substr(scheme, text.find('/', scheme) - scheme);
  if (host.find('@') != std::string_view::npos) return "a name or password does not belong into the address; use key:";
  const auto colon = host.find(']') == std::string_view::npos ? host.find(':') : host.find(':', host.find(']'));
  if (colon != std::string_view::npos) {
    unsigned port = 0;
    const auto digits = host.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc{} || end != digits.data() + digits.size() || port == 0 || port > 65535)
      return "the port is a number from 1 to 65535";
    host = host.substr(0, colon);
  }
  return host.empty() ? "the host is missing" : "";
}

/// The keys of every api with an endpoint: endpoint, model, key.
Remote read_remote(Fields& fields, const Folders& folders, const std::string& model) {
  auto& problems = fields.problems();
  Remote remote;
  if (const auto* endpoint = fields.require("endpoint")) {
    remote.endpoint = fields.text("endpoint", "");
    // What stands before an @ or behind a ? is a password or a key.
    const bool is_open = remote.endpoint.find_first_of("@?") == std::string::npos;
    const auto shown = is_open ? fmt::format("'{}'", remote.endpoint) : std::string("no base URL");
    const auto why = endpoint->kind == YamlNode::Kind::scalar ? endpoint_fault(remote.endpoint) : std::string_view();
    if (!why.empty())
      problems.add(endpoint->place, fmt::format("{} is {} ({})", fields.path_of("endpoint"), shown, why));
  }
  remote.model = fields.text("model", model);
  if (const auto* key = fields.find("key")) remote.key = read_key(*key, fields.path_of("key"), folders, problems);
  return remote;
}

void write_remote(const Remote& remote, FlowMap& map) {
  map.text_if("endpoint", remote.endpoint).text_if("model", remote.model);
}

// synthetic

void read_own(Fields& fields, const Folders& folders, const std::string& model, Synthetic& api) {
  auto& problems = fields.problems();
  const auto* node = fields.find("profile");
  const Place place = node != nullptr ? node->place : fields.place();
  api.profile = fields.text("profile", model);
  if (node != nullptr && node->kind != YamlNode::Kind::scalar) return;  // reported
  if (!is_name(api.profile)) {
    problems.add(place, fmt::format("{} is '{}' (letters, digits, _ and -, at most 40, are wanted)",
                                    fields.path_of("profile"), api.profile));
    return;
  }
  const auto wanted = fs::path("profiles") / (api.profile + ".yaml");
  const auto file = folders.find(wanted);
  if (!file) {
    problems.add(place, fmt::format("no profile '{}': profiles/{}.yaml is missing{}{}", api.profile, api.profile,
                                    folders.near(wanted), folders.looked_in()));
    return;
  }
  try {
    api.profile_hash = sha256_hex(read_file(*file));
    api.profile_file = *file;
  } catch (const Error& error) {
    problems.add(place, error.what());
  }
}

void write_own(const Synthetic& api, FlowMap& map) { map.text_if("profile", api.profile); }

std::vector<KeyField> key_fields(const Synthetic& api) { return {{"model", ""}, {"profile", api.profile_hash}}; }

// openai

void read_own(Fields& fields, const Folders& folders, const std::string& model, OpenAi& api) {
  api.remote = read_remote(fields, folders, model);
  if (const auto* server = fields.find("server")) {
    fields.problems().add(server->key_place,
                          fmt::format("{} is not in this version; start the server yourself and name its endpoint",
                                      fields.path_of("server")));
  }
}

void write_own(const OpenAi& api, FlowMap& map) { write_remote(api.remote, map); }

std::vector<KeyField> key_fields(const OpenAi& api) { return {{"model", api.remote.model}, {"profile", ""}}; }

// The table.

template <std::size_t... I>
std::vector<ModelApi> empty_apis(std::index_sequence<I...>) {
  return {ModelApi(std::in_place_index<I>)...};
}

const std::vector<ModelApi>& all_apis() {
  static const auto kAll = empty_apis(std::make_index_sequence<std::variant_size_v<ModelApi>>());
  return kAll;
}

std::span<const std::string_view> keys_of(const ModelApi& api) {
  return std::visit([](const auto& own) { return std::span<const std::string_view>(own.kKeys); }, api);
}

/// Apis of the contract that this version has not, and the keys that they alone know.
constexpr std::array<std::string_view, 3> kAbsentApis = {"anthropic", "bedrock", "replay"};
constexpr std::array<std::string_view, 2> kAbsentKeys = {"region", "run"};

std::vector<std::string> api_names() {
  std::vector<std::string> names;
  for (const auto& api : all_apis()) names.emplace_back(name_of(api));
  return names;
}

std::vector<std::string> known_words() {
  auto words = api_names();
  words.insert(words.end(), kAbsentApis.begin(), kAbsentApis.end());
  return words;
}

void refuse_foreign_keys(Fields& fields, const ModelApi& api) {
  const auto own = keys_of(api);
  for (const auto& other : all_apis()) {
    for (const auto key : keys_of(other)) {
      if (std::find(own.begin(), own.end(), key) != own.end()) continue;
      if (const auto* node = fields.find(key)) {
        fields.problems().add(node->key_place, fmt::format("{} means nothing for api {}; leave it out",
                                                           fields.path_of(key), name_of(api)));
      }
    }
  }
}

/// While it is not known which api is meant, every api's key may be right.
void let_all_api_keys_pass(Fields& fields) {
  for (const auto& api : all_apis()) {
    for (const auto key : keys_of(api)) fields.find(key);
  }
  for (const auto key : kAbsentKeys) fields.find(key);
}

}  // namespace

std::string_view name_of(const ModelApi& api) {
  return std::visit([](const auto& own) { return own.kName; }, api);
}

const Remote* remote_of(const ModelApi& api) {
  return std::visit(
      [](const auto& own) -> const Remote* {
        if constexpr (requires { own.remote; }) return &own.remote;
        return nullptr;
      },
      api);
}

bool needs_known_kernels(const ModelApi& api) { return std::holds_alternative<Synthetic>(api); }

std::map<std::string, fs::path> api_input_files(const ModelApi& api) {
  const auto* synthetic = std::get_if<Synthetic>(&api);
  if (synthetic == nullptr) return {};
  return {{fmt::format("profiles/{}.yaml", synthetic->profile), synthetic->profile_file}};
}

std::vector<KeyField> api_key_fields(const ModelApi& api) {
  return std::visit([](const auto& own) { return key_fields(own); }, api);
}

ModelApi read_api(Fields& fields, const Folders& folders, const std::string& model) {
  const auto* node = fields.require("api");
  const auto name = fields.choice("api", "", known_words());
  for (auto api : all_apis()) {
    if (name_of(api) != name) continue;
    std::visit([&](auto& own) { read_own(fields, folders, model, own); }, api);
    refuse_foreign_keys(fields, api);
    return api;
  }
  let_all_api_keys_pass(fields);
  if (node != nullptr && !name.empty()) {
    auto names = api_names();
    std::reverse(names.begin(), names.end());
    fields.problems().add(node->place,
                          fmt::format("api '{}' is not in this version; use {}", name, fmt::join(names, " or ")));
  }
  return {};
}

void write_api(const ModelApi& api, FlowMap& map) {
  map.text("api", name_of(api));
  std::visit([&](const auto& own) { write_own(own, map); }, api);
}

void write_key(const ModelApi& api, FlowMap& map) {
  const auto* remote = remote_of(api);
  if (remote == nullptr || remote->key.kind == KeySource::Kind::none) return;
  FlowMap key;
  if (remote->key.kind == KeySource::Kind::env) key.text("env", remote->key.value);
  if (remote->key.kind == KeySource::Kind::file) key.text("file", remote->key.value);
  if (remote->key.kind == KeySource::Kind::command) key.raw("command", flow_list(remote->key.command));
  map.raw("key", key.str());
}

}  // namespace nkigrid::jobs
