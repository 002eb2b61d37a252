#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/grid/slurm_spec.hpp"

namespace nkigrid::jobs {

struct Folders;

/// A model's server that is started before the grid, waited for and ended with it (docs/decisions/servers.md).
struct ServerSpec {
  std::vector<std::string> command;                ///< {port}, {host} and {replica} in its words are filled in
  std::map<std::string, std::string> environment;  ///< beside what it inherits; filled in alike
  std::uint32_t replicas = 1;
  std::uint32_t port = 0;       ///< of the first replica, the next has the next; 0: any that is free
  std::string path = "/v1";     ///< of its API
  std::string health;           ///< answers 200 once it works; "": /health, and where there is none the list of models
  Seconds start_timeout{1800};  ///< for its first answer: large models load for minutes
  std::uint32_t cpus = 1;
  Seconds time{0};  ///< limit of its job; 0: that of an element and its own start_timeout
  SlurmSpec slurm;  ///< its job's keys alone (read_job_keys)
};

/// The base URL of every request to the server of model `name`. Nobody resolves it: the client puts a replica's address
/// in its place.
std::string kept_server_url(std::string_view name);

/// Reads models.NAME.server. No message repeats a word of its command or environment that may be a key.
ServerSpec read_server(const YamlNode& node, const std::string& path, const Folders& folders, Problems& problems);
void write_server(const ServerSpec& spec, FlowMap& map);

/// `text` with {port}, {host} and {replica} filled in; all else in braces stays as it is.
struct ServerPlace {
  std::string host;  ///< to listen on
  std::uint32_t port = 0, replica = 0;
};
std::string filled_in(std::string text, const ServerPlace& place);

}  // namespace nkigrid::jobs
