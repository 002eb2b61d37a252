#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nkigrid::log {

/// One replica of a server, as those who started it name it.
struct ServerName {
  std::string owner;  ///< "all" or "shard-K": a session on this machine; "jobs": batch jobs of the run
  std::string server;
  std::uint32_t replica = 0;
};
inline constexpr const char* kJobsOwn = "jobs";

/// What its keeper says of it, in RUN/log/servers/OWNER.SERVER.REPLICA.json (docs/formats/run_directory.md).
struct ServerNote {
  enum class State {
    starting,  ///< its process runs, or is about to, and has not answered
    healthy,
    ended,  ///< its keeper was told to end it
    failed  ///< it will not be started again
  };
  State state = State::starting;
  std::string address;  ///< "http://gpu01:8000"
  std::string job;      ///< the batch job that keeps it, or ""
  std::string text;     ///< why it failed, ended, or was started again
  std::uint32_t starts = 1;
  double since = 0;  ///< Unix time [s]
};
std::string_view to_string(ServerNote::State state) noexcept;

/// The name of a replica's files in RUN/log/servers: `.json`, `.out` (what it printed) and `.lock` follow.
std::filesystem::path server_file(const std::filesystem::path& log_folder, const ServerName& name,
                                  const std::string& suffix);

/// Makes the folder. @throws Error{io}
void note_server(const std::filesystem::path& log_folder, const ServerName& name, const ServerNote& note);
/// Nothing where there is none, or none that can be read.
std::optional<ServerNote> read_server_note(const std::filesystem::path& log_folder, const ServerName& name);
/// Removes what an earlier keeper said: it is of no more use: the next one is about to begin.
void forget_server(const std::filesystem::path& log_folder, const ServerName& name) noexcept;

struct NamedServer {
  ServerName name;
  ServerNote note;
};
/// What living keepers say, by owner, server and replica: theirs are locked. None where flock is not supported.
std::vector<NamedServer> living_servers(const std::filesystem::path& log_folder);

/// The last lines that a server printed, as one bounded line, for messages; "" when it printed nothing.
std::string end_of_server_log(const std::filesystem::path& log_folder, const ServerName& name);

}  // namespace nkigrid::log
