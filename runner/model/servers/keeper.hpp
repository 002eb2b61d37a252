#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "jobs/grid/server.hpp"
#include "runner/log/server_notes.hpp"

namespace nkigrid::model {

/// What a keeper does not learn from the grid.
struct KeeperOptions {
  std::filesystem::path log_folder;
  log::ServerName name;
  std::string host;     ///< the server listens there: 127.0.0.1 or 0.0.0.0
  std::string machine;  ///< under which its clients find it
  std::string job;      ///< batch job, or ""
  pid_t parent = 0;     ///< the session that wants the server: when that process ends, so does the server; 0: nobody's
  /// Asked about twice a minute: whether the run still wants the server. Empty: until told to end. Forks.
  std::function<bool()> is_wanted = {};
  bool quiet = false;                ///< no notices
  std::function<void()> begun = {};  ///< called once what is noted is this keeper's word, no earlier one's
};

/// Keeps one replica of a server, the whole life of a process: starts it, waits for its first answer, notes what
/// becomes of it (log::ServerNote), starts it once more when it dies after it has answered, and ends it with all that
/// it started when SIGTERM, SIGINT or SIGHUP comes, when its parent has ended or when the run wants it no more.
/// docs/decisions/servers.md
/// @pre one thread; the process does nothing else
/// @returns "" when the server was told to end; why it is given up, which is noted: it does not answer within
/// start_timeout, ends before, dies twice, or finds its port taken
/// @throws Error{external} when another process keeps it; Error{io}
std::string keep_server(const jobs::ServerSpec& spec, const KeeperOptions& options);

}  // namespace nkigrid::model
