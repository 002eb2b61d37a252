#include "jobs/grid/apis.hpp"

#include <algorithm>
#include <cctype>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/folders.hpp"
#include "jobs/grid/named_file.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

// synthetic

void read_own(Fields& fields, const Folders& all, const std::string& model, Synthetic& api) {
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
  const auto folders = all.of(place);
  const auto file = folders.find(wanted);
  if (!file) {
    problems.add(place, fmt::format("no profile '{}': profiles/{}.yaml is missing{}{}", api.profile, api.profile,
                                    folders.near_stem(wanted), folders.looked_in()));
    return;
  }
  try {
    api.profile_hash = sha256_hex(read_named_file(*file));
    api.profile_file = *file;
  } catch (const Error& error) {
    problems.add(place, error.what());
  }
}

void write_own(const Synthetic& api, FlowMap& map) { map.text_if("profile", api.profile); }

std::vector<KeyField> key_fields(const Synthetic& api) { return {{"model", ""}, {"profile", api.profile_hash}}; }

// openai

/// `server`: what starts one, or the name of the model whose server it is. It decides where the model is.
void read_server_of(Fields& fields, const Folders& folders, const std::string& model, OpenAi& api) {
  const auto* node = fields.find("server");
  if (node == nullptr) return;
  auto& problems = fields.problems();
  if (const auto* endpoint = fields.find("endpoint"))
    problems.add(endpoint->key_place,
                 fmt::format("{} and server say both where the model is; leave one out", fields.path_of("endpoint")));
  if (node->kind == YamlNode::Kind::scalar) {
    api.server_of = fields.text("server", "");
    return;
  }
  api.server_of = model;
  api.server = read_server(*node, fields.path_of("server"), folders, problems);
}

void read_own(Fields& fields, const Folders& folders, const std::string& model, OpenAi& api) {
  read_server_of(fields, folders, model, api);
  const auto kept = api.server_of.empty() ? std::string() : kept_server_url(model);
  api.remote = read_remote(fields, folders, model, kept);
  if (api.server) api.remote.endpoint = kept + api.server->path;
  const auto form = fields.choice("form", "chat", std::vector<std::string>{"chat", "responses"});
  api.form = form == "responses" ? OpenAi::Form::responses : OpenAi::Form::chat;
}

void write_own(const OpenAi& api, FlowMap& map) {
  auto remote = api.remote;
  if (!api.server_of.empty()) remote.endpoint.clear();
  write_remote(remote, map);
  if (api.form == OpenAi::Form::responses) map.text("form", "responses");
  if (api.server) {
    FlowMap server;
    write_server(*api.server, server);
    map.raw("server", server.str());
  } else {
    map.text_if("server", api.server_of);
  }
}

/// Name and, for the frozen order of fields, an empty profile; then what only some grids say.
std::vector<KeyField> remote_fields(const Remote& remote) {
  std::vector<KeyField> fields = {{"model", remote.model}, {"profile", ""}};
  for (auto& field : remote_key_fields(remote)) fields.push_back(std::move(field));
  return fields;
}

std::vector<KeyField> key_fields(const OpenAi& api) {
  auto fields = remote_fields(api.remote);
  if (api.form == OpenAi::Form::responses) fields.push_back({"form", "responses"});
  return fields;
}

// anthropic

void read_own(Fields& fields, const Folders& folders, const std::string& model, Anthropic& api) {
  api.remote = read_remote(fields, folders, model, Anthropic::kUsualEndpoint);
  api.prompt_cache = fields.flag("prompt_cache", api.prompt_cache);
  fields.require("max_tokens");  // Messages takes no request without
}

void write_own(const Anthropic& api, FlowMap& map) {
  write_remote(api.remote, map);
  map.flag("prompt_cache", api.prompt_cache);
}

std::vector<KeyField> key_fields(const Anthropic& api) { return remote_fields(api.remote); }

// bedrock

void read_own(Fields& fields, const Folders& folders, const std::string& model, Bedrock& api) {
  const auto* node = fields.require("region");
  api.region = fields.text("region", "");
  const bool is_word = std::all_of(api.region.begin(), api.region.end(),
                                   [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
  if (node != nullptr && (!is_word || api.region.empty()))
    fields.problems().add(node->place, fmt::format("{} is '{}' (a region is wanted, e.g. us-west-2)",
                                                   fields.path_of("region"), api.region));
  api.remote = read_remote(fields, folders, model, fmt::format("https://bedrock-runtime.{}.amazonaws.com", api.region));
  api.account = fields.text("account", "");
  api.prompt_cache = fields.flag("prompt_cache", api.prompt_cache);
}

void write_own(const Bedrock& api, FlowMap& map) {
  write_remote(api.remote, map);
  map.text("region", api.region).text_if("account", api.account).flag("prompt_cache", api.prompt_cache);
}

std::vector<KeyField> key_fields(const Bedrock& api) { return remote_fields(api.remote); }

// replay

void read_own(Fields& fields, const Folders& folders, const std::string& model, Replay& api) {
  const auto* node = fields.require("run");
  api.model = fields.text("model", model);
  if (node == nullptr) return;
  api.run = fs::absolute(folders.of(node->place).base / fields.text("run", "")).lexically_normal();
  api.run_hash = fields.text("run_hash", "");
  if (!api.run_hash.empty()) return;  // frozen
  try {
    api.run_hash = sha256_hex(read_named_file(api.run / "grid.yaml"));
  } catch (const Error&) {
    fields.problems().add(node->place, fmt::format("{} is '{}' (no run there: grid.yaml is missing; name the folder of "
                                                   "an earlier run)",
                                                   fields.path_of("run"), api.run.native()));
  }
}

void write_own(const Replay& api, FlowMap& map) {
  map.text("run", api.run.native()).text_if("model", api.model).text_if("run_hash", api.run_hash);
}

std::vector<KeyField> key_fields(const Replay& api) { return {{"model", api.model}, {"profile", api.run_hash}}; }

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

std::vector<std::string> api_names() {
  std::vector<std::string> names;
  for (const auto& api : all_apis()) names.emplace_back(name_of(api));
  return names;
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

std::vector<std::string> endpoint_api_names() {
  std::vector<std::string> names;
  for (const auto& api : all_apis())
    if (has_endpoint(api)) names.emplace_back(name_of(api));
  return names;
}

const ServerSpec* own_server(const ModelApi& api) {
  const auto* openai = std::get_if<OpenAi>(&api);
  return openai != nullptr && openai->server ? &*openai->server : nullptr;
}

std::string kept_server_of(const ModelApi& api) {
  const auto* openai = std::get_if<OpenAi>(&api);
  return openai != nullptr ? openai->server_of : std::string();
}

void share_server(ModelApi& api, const ModelApi& owner) {
  std::get<OpenAi>(api).remote.endpoint = std::get<OpenAi>(owner).remote.endpoint;
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
  fields.require("api");
  const auto name = fields.choice("api", "", api_names());
  for (auto api : all_apis()) {
    if (name_of(api) != name) continue;
    std::visit([&](auto& own) { read_own(fields, folders, model, own); }, api);
    refuse_foreign_keys(fields, api);
    return api;
  }
  let_all_api_keys_pass(fields);
  return {};
}

void write_api(const ModelApi& api, FlowMap& map) {
  map.text("api", name_of(api));
  std::visit([&](const auto& own) { write_own(own, map); }, api);
}

void write_key(const ModelApi& api, FlowMap& map) {
  if (const auto* remote = remote_of(api)) write_remote_key(*remote, map);
}

std::vector<KeySource> key_sources(const ModelApi& api) {
  std::vector<KeySource> sources;
  const auto* remote = remote_of(api);
  if (remote == nullptr) return sources;
  if (remote->key.kind != KeySource::Kind::none) sources.push_back(remote->key);
  for (const auto& header : remote->headers)
    if (header.secret.kind != KeySource::Kind::none) sources.push_back(header.secret);
  return sources;
}

}  // namespace nkigrid::jobs
