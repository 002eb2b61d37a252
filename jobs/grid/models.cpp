#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/base/text.hpp"
#include "jobs/grid/parts.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

const std::vector<std::string> kApis = {"synthetic", "openai", "anthropic", "bedrock", "replay"};

/// `~/x` is the user's home; another relative path is the grid file's neighbour.
std::string absolute_key_path(const std::string& path, const Folders& folders) {
  if (path.rfind("~/", 0) == 0) {
    const char* home = std::getenv("HOME");
    return home == nullptr ? path : (fs::path(home) / path.substr(2)).lexically_normal().native();
  }
  return fs::absolute(folders.base / path).lexically_normal().native();
}

KeySource read_key(const YamlNode& node, const std::string& path, const Folders& folders, Problems& problems) {
  KeySource source;
  Fields fields(node, path, problems);
  const auto* env = fields.find("env");
  const auto* file = fields.find("file");
  const auto* command = fields.find("command");
  if (node.kind == YamlNode::Kind::map && (env != nullptr) + (file != nullptr) + (command != nullptr) != 1) {
    problems.add(node.place, fmt::format("{} must have exactly one of env, file and command", path));
  }
  if (env != nullptr)
    source = {KeySource::Kind::env, read_text(*env, fields.path_of("env"), problems).value_or(""), {}};
  if (file != nullptr) {
    const auto name = read_text(*file, fields.path_of("file"), problems);
    if (name) source = {KeySource::Kind::file, absolute_key_path(*name, folders), {}};
  }
  if (command != nullptr) {
    source.kind = KeySource::Kind::command;
    if (command->kind != YamlNode::Kind::list) {
      problems.add(command->place, fmt::format("{} is {} (a list of words is wanted: no shell reads it)",
                                               fields.path_of("command"), describe(*command)));
    } else {
      for (auto& word : read_texts(*command, fields.path_of("command"), problems))
        source.command.push_back(std::move(word.text));
    }
  }
  fields.finish();
  return source;
}

Price read_price(const YamlNode& node, const std::string& path, Problems& problems) {
  Fields fields(node, path, problems);
  constexpr double kAny = std::numeric_limits<double>::infinity();
  fields.require("input");
  fields.require("output");
  const Price price{fields.number("input", 0, 0, kAny), fields.number("output", 0, 0, kAny)};
  fields.finish();
  return price;
}

/// Reports a key that means nothing for the model's api.
void refuse(Fields& fields, std::string_view key, std::string_view api) {
  if (const auto* node = fields.find(key)) {
    fields.problems().add(node->key_place,
                          fmt::format("{} means nothing for api {}; leave it out", fields.path_of(key), api));
  }
}

void read_synthetic(Fields& fields, const Folders& folders, ModelSpec& model) {
  auto& problems = fields.problems();
  for (const auto* key : {"endpoint", "model", "key", "server"}) refuse(fields, key, model.api);
  const auto* node = fields.find("profile");
  const Place place = node != nullptr ? node->place : fields.place();
  model.profile = fields.text("profile", model.name);
  if (node != nullptr && node->kind != YamlNode::Kind::scalar) return;  // reported
  if (!is_name(model.profile)) {
    problems.add(place, fmt::format("{} is '{}' (letters, digits, _ and -, at most 40, are wanted)",
                                    fields.path_of("profile"), model.profile));
    return;
  }
  const auto file = folders.find(fs::path("profiles") / (model.profile + ".yaml"));
  if (!file) {
    problems.add(place, fmt::format("no profile '{}': profiles/{}.yaml is missing{}", model.profile, model.profile,
                                    folders.looked_in()));
    return;
  }
  try {
    model.profile_hash = sha256_hex(read_file(*file));
    model.profile_file = *file;
  } catch (const Error& error) {
    problems.add(place, error.what());
  }
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

void read_openai(Fields& fields, const Folders& folders, ModelSpec& model) {
  auto& problems = fields.problems();
  refuse(fields, "profile", model.api);
  if (const auto* endpoint = fields.require("endpoint")) {
    model.endpoint = fields.text("endpoint", "");
    const auto why = endpoint->kind == YamlNode::Kind::scalar ? endpoint_fault(model.endpoint) : std::string_view();
    if (!why.empty())
      problems.add(endpoint->place, fmt::format("{} is '{}' ({})", fields.path_of("endpoint"), model.endpoint, why));
  }
  model.model = fields.text("model", model.name);
  if (const auto* key = fields.find("key")) model.key = read_key(*key, fields.path_of("key"), folders, problems);
  if (const auto* server = fields.find("server")) {
    problems.add(server->key_place,
                 fmt::format("{} is not in this version; start the server yourself and name its endpoint",
                             fields.path_of("server")));
  }
}

/// The keys that every api has.
void read_common(Fields& fields, ModelSpec& model) {
  auto& problems = fields.problems();
  if (const auto* node = fields.find("temperature"))
    model.temperature = read_number(*node, fields.path_of("temperature"), 0, 10, problems);
  if (const auto* node = fields.find("top_p"))
    model.top_p = read_number(*node, fields.path_of("top_p"), 0, 1, problems);
  if (fields.find("max_tokens") != nullptr) model.max_tokens = fields.integer("max_tokens", 0, 1);
  model.call_recovery = fields.flag("call_recovery", model.call_recovery);
  model.concurrency = fields.integer("concurrency", 0, 0);
  model.request_timeout = fields.duration("request_timeout", model.request_timeout);
  model.retry_limit = fields.duration("retry_limit", model.retry_limit);
  if (const auto* node = fields.find("price")) model.price = read_price(*node, fields.path_of("price"), problems);
  if (fields.find("method") != nullptr) model.method = fields.text("method", "");
  if (const auto* node = fields.find("budget")) model.budget = read_budget(*node, fields.path_of("budget"), problems);
}

ModelSpec read_model(const YamlNode& node, const Folders& folders, Problems& problems) {
  ModelSpec model;
  model.name = node.key;
  Fields fields(node, fmt::format("models.{}", node.key), problems);
  const auto* api = fields.require("api");
  model.api = fields.choice("api", "", kApis);
  read_common(fields, model);
  if (model.api == "synthetic") {
    read_synthetic(fields, folders, model);
  } else if (model.api == "openai") {
    read_openai(fields, folders, model);
  } else {
    for (const auto* key : {"profile", "endpoint", "model", "key", "server", "region", "run"}) fields.find(key);
    if (api != nullptr && !model.api.empty()) {
      problems.add(api->place, fmt::format("api '{}' is not in this version; use openai or synthetic", model.api));
    }
  }
  fields.finish();
  return model;
}

}  // namespace

std::vector<ModelSpec> read_models(const YamlNode& node, const Folders& folders, Problems& problems) {
  std::vector<ModelSpec> models;
  for (const auto& item : node.items) models.push_back(read_model(item, folders, problems));
  return models;
}

}  // namespace nkigrid::jobs
