#include "jobs/grid/server.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "jobs/base/key_like.hpp"
#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/folders.hpp"
#include "jobs/grid/program.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace {

constexpr std::uint32_t kMostReplicas = 1000, kMostPort = 65535;

/// Options by which servers take their key: everybody on the machine reads a command line.
bool takes_key(std::string_view word) {
  const auto name = word.substr(0, word.find('='));
  return name == "--api-key" || name == "--api_key" || name == "--hf-token" || name == "--token";
}

void refuse_keys(const YamlNode& command, const std::string& path, Problems& problems) {
  for (const auto& word : command.items) {
    if (looks_like_key(word.text) || takes_key(word.text))
      problems.add(word.place, fmt::format("{} holds a key or an option that takes one (not shown here; every user of "
                                           "the machine can read a command line); let the server read it from a file "
                                           "or its environment: [sh, -c, 'VLLM_API_KEY=$(cat ~/.key) exec vllm ...']",
                                           path));
  }
}

std::map<std::string, std::string> read_environment(const YamlNode& node, const std::string& path, Problems& problems) {
  std::map<std::string, std::string> environment;
  if (node.kind != YamlNode::Kind::map) {
    problems.add(node.place, fmt::format("{} is {} (a map is wanted: NAME: text)", path, describe(node)));
    return environment;
  }
  for (const auto& item : node.items) {
    const auto what = fmt::format("{}.{}", path, item.key);
    if (item.key.empty() || item.key.find('=') != std::string::npos)
      problems.add(item.key_place, fmt::format("{} is no name of an environment variable", what));
    if (looks_like_key(item.text))
      problems.add(item.place, fmt::format("{} is a key (not shown here); a key itself never stands in a grid", what));
    else if (auto text = read_text(item, what, problems))
      environment[item.key] = std::move(*text);
  }
  return environment;
}

std::string read_url_path(Fields& fields, std::string_view key, std::string fallback) {
  auto path = fields.text(key, std::move(fallback));
  const auto* node = fields.find(key);
  const bool is_path = path.starts_with('/') && path.find_first_of(" \t\n\"'<>?#") == std::string::npos;
  if (node != nullptr && node->kind == YamlNode::Kind::scalar && !is_path)
    fields.problems().add(node->place,
                          fmt::format("{} is {} (a path is wanted, e.g. /v1)", fields.path_of(key), describe(*node)));
  return path;
}

/// A server on a port that nobody told it would be waited for in vain.
void check_port(const Fields& fields, const ServerSpec& spec, Problems& problems) {
  const auto names_port = [](const std::string& text) { return text.find("{port}") != std::string::npos; };
  const bool told = std::any_of(spec.command.begin(), spec.command.end(), names_port) ||
                    std::any_of(spec.environment.begin(), spec.environment.end(),
                                [&](const auto& entry) { return names_port(entry.second); });
  if (spec.command.empty() || told) return;
  if (spec.port == 0 || spec.replicas > 1)
    problems.add(fields.place(), fmt::format("{} has no word {{port}} (each replica listens where it is told); write "
                                             "e.g. [vllm, serve, NAME, --port, \"{{port}}\"]",
                                             fields.path_of("command")));
}

}  // namespace

std::string kept_server_url(std::string_view name) { return fmt::format("http://server-of-{}", name); }

ServerSpec read_server(const YamlNode& node, const std::string& path, const Folders& folders, Problems& problems) {
  ServerSpec spec;
  Fields fields(node, path, problems);
  if (const auto* command = fields.require("command")) {
    const auto what = fields.path_of("command");
    spec.command = read_program(*command, what, "[vllm, serve, NAME, --port, \"{port}\"]", folders, problems);
    refuse_keys(*command, what, problems);
  }
  if (const auto* env = fields.find("env")) spec.environment = read_environment(*env, fields.path_of("env"), problems);
  spec.replicas = fields.integer("replicas", spec.replicas, 1, kMostReplicas);
  if (fields.find("port") != nullptr) spec.port = fields.integer("port", 0, 1, kMostPort - kMostReplicas);
  spec.path = read_url_path(fields, "path", spec.path);
  spec.health = read_url_path(fields, "health", "");
  spec.start_timeout = fields.duration("start_timeout", spec.start_timeout);
  if (const auto* job = fields.find("slurm")) {
    Fields own(*job, fields.path_of("slurm"), problems);
    read_job_keys(own, spec.slurm);
    spec.cpus = own.integer("cpus", spec.cpus, 1, 10'000);
    if (own.find("time") != nullptr) spec.time = own.duration("time", spec.time);
    own.finish();
  }
  check_port(fields, spec, problems);
  fields.finish();
  return spec;
}

void write_server(const ServerSpec& spec, FlowMap& map) {
  map.raw("command", flow_list(spec.command));
  FlowMap environment;
  for (const auto& [name, text] : spec.environment) environment.text(yaml_scalar(name), text);
  if (!environment.empty()) map.raw("env", environment.str());
  map.integer("replicas", spec.replicas);
  if (spec.port != 0) map.integer("port", spec.port);
  map.text("path", spec.path).text_if("health", spec.health).duration("start_timeout", spec.start_timeout);
  FlowMap job;
  write_job_keys(spec.slurm, job);
  job.integer("cpus", spec.cpus);
  if (spec.time.count() > 0) job.duration("time", spec.time);
  write_extra(spec.slurm, job);
  map.raw("slurm", job.str());
}

std::string filled_in(std::string text, const ServerPlace& place) {
  const auto fill = [&text](std::string_view name, const std::string& value) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  };
  fill("{port}", std::to_string(place.port));
  fill("{host}", place.host);
  fill("{replica}", std::to_string(place.replica));
  return text;
}

}  // namespace nkigrid::jobs
