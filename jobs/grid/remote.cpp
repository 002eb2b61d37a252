#include "jobs/grid/remote.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "jobs/base/key_like.hpp"
#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/folders.hpp"
#include "jobs/grid/json_value.hpp"
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
    if (name) source = {KeySource::Kind::file, absolute_key_path(*name, folders.of(file->place)), {}};
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

bool is_header_name(std::string_view name) {
  const auto is_token = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_token);
}

/// Headers that a wire or the client writes: a second one would contradict it.
bool is_ours(std::string_view name) {
  return name == "content-type" || name == "content-length" || name == "host" || name == "accept" ||
         name == "transfer-encoding";
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Whether a header proves who asks: what gateways and providers take keys in, by its name, or by a scheme of HTTP
/// authentication at the head of its text.
bool is_secret(const std::string& name, const std::string& text) {
  static constexpr std::array<std::string_view, 11> kSecret = {"authorization", "auth",       "cookie",     "key",
                                                               "apikey",        "token",      "secret",     "password",
                                                               "passwd",        "credential", "credentials"};
  const std::string scheme = lower_case(text.substr(0, 7));
  if (scheme == "bearer " || scheme.starts_with("basic ")) return true;
  std::string word;
  for (const char c : name + "-") {
    if (c != '-' && c != '_') {
      word += c;
      continue;
    }
    if (std::find(kSecret.begin(), kSecret.end(), word) != kSecret.end()) return true;
    word.clear();
  }
  return false;
}

HeaderSpec read_header(const YamlNode& node, const std::string& path, const Folders& folders, Problems& problems) {
  HeaderSpec header{.name = lower_case(node.key), .text = "", .secret = {}};
  if (!is_header_name(header.name) || is_ours(header.name))
    problems.add(node.key_place, fmt::format("{} is no header of a grid (letters, digits and -, none that the client "
                                             "writes itself)",
                                             path));
  if (node.kind == YamlNode::Kind::map) {
    header.secret = read_key(node, path, folders, problems);
  } else if (is_secret(header.name, node.text)) {
    problems.add(node.place, fmt::format("{} is a secret by its looks (not shown here: a key itself never stands in a "
                                         "grid); give its text as one of {{env: NAME}}, {{file: PATH}} and {{command: "
                                         "[word, ...]}}",
                                         path));
  } else if (const auto text = read_key_word(node, path, problems)) {
    header.text = *text;
    if (text->find_first_of("\r\n") != std::string::npos)
      problems.add(node.place, fmt::format("{} has a line break (one line is wanted)", path));
  }
  return header;
}

std::vector<HeaderSpec> read_headers(const YamlNode& node, const std::string& path, const Folders& folders,
                                     Problems& problems) {
  std::vector<HeaderSpec> headers;
  if (node.kind != YamlNode::Kind::map)
    problems.add(node.place, fmt::format("{} is {} (a map is wanted: name: text)", path, describe(node)));
  else
    for (const auto& item : node.items)
      headers.push_back(read_header(item, fmt::format("{}.{}", path, item.key), folders, problems));
  return headers;
}

FlowMap key_map(const KeySource& source) {
  FlowMap key;
  if (source.kind == KeySource::Kind::env) key.text("env", source.value);
  if (source.kind == KeySource::Kind::file) key.text("file", source.value);
  if (source.kind == KeySource::Kind::command) key.raw("command", flow_list(source.command));
  return key;
}

std::string read_endpoint(Fields& fields, std::string_view usual) {
  const auto* node = usual.empty() ? fields.require("endpoint") : fields.find("endpoint");
  if (node == nullptr) return std::string(usual);
  const auto endpoint = fields.text("endpoint", "");
  // What stands before an @ or behind a ? is a password or a key.
  const bool is_open = endpoint.find_first_of("@?") == std::string::npos;
  const auto shown = is_open ? fmt::format("'{}'", endpoint) : std::string("no base URL");
  const auto why = node->kind == YamlNode::Kind::scalar ? endpoint_fault(endpoint) : std::string_view();
  if (!why.empty())
    fields.problems().add(node->place, fmt::format("{} is {} ({})", fields.path_of("endpoint"), shown, why));
  return endpoint;
}

}  // namespace

Remote read_remote(Fields& fields, const Folders& folders, const std::string& model, std::string_view usual_endpoint) {
  auto& problems = fields.problems();
  Remote remote;
  remote.endpoint = read_endpoint(fields, usual_endpoint);
  remote.model = fields.text("model", model);
  if (const auto* key = fields.find("key")) remote.key = read_key(*key, fields.path_of("key"), folders, problems);
  if (const auto* body = fields.find("body")) remote.body = read_json_object(*body, fields.path_of("body"), problems);
  if (const auto* headers = fields.find("headers"))
    remote.headers = read_headers(*headers, fields.path_of("headers"), folders, problems);
  return remote;
}

void write_remote(const Remote& remote, FlowMap& map) {
  map.text_if("endpoint", remote.endpoint).text_if("model", remote.model);
  if (!remote.body.empty()) map.raw("body", remote.body);  // JSON is YAML
  if (remote.headers.empty()) return;
  FlowMap headers;
  for (const auto& header : remote.headers) {
    if (header.secret.kind == KeySource::Kind::none)
      headers.text(header.name, header.text);
    else
      headers.raw(header.name, key_map(header.secret).str());
  }
  map.raw("headers", headers.str());
}

void write_remote_key(const Remote& remote, FlowMap& map) {
  if (remote.key.kind != KeySource::Kind::none) map.raw("key", key_map(remote.key).str());
}

std::vector<KeyField> remote_key_fields(const Remote& remote) {
  std::vector<KeyField> fields;
  if (!remote.body.empty()) fields.push_back({"body", remote.body});
  for (const auto& header : remote.headers) {
    if (header.secret.kind == KeySource::Kind::none)
      fields.push_back({"headers." + header.name, header.name + ": " + header.text});
  }
  return fields;
}

}  // namespace nkigrid::jobs
