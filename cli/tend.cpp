#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/host_name.hpp"
#include "cli/own_rights.hpp"
#include "cli/schedulers.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/run_directory.hpp"
#include "jobs/servers.hpp"
#include "runner/log/server_notes.hpp"
#include "runner/model/key.hpp"
#include "runner/model/servers/keeper.hpp"

namespace nkigrid::cli {
namespace {

struct TendOptions {
  std::string run, server, owner = "all", host = "127.0.0.1", machine = "127.0.0.1";
  std::uint32_t replica = 0;
  std::int32_t parent = 0;
  bool job = false, trust = false, quiet = false;
};

const jobs::ServerSpec& server_in(const jobs::Grid& grid, const TendOptions& options) {
  const auto& servers = jobs::servers_of(grid);
  const auto found =
      std::find_if(servers.begin(), servers.end(), [&](const auto& server) { return server.name == options.server; });
  if (found == servers.end())
    throw Error(ErrorCode::usage, fmt::format("model '{}' has no server of its own in this run", options.server));
  if (options.replica >= found->spec->replicas)
    throw Error(ErrorCode::usage, fmt::format("the server of model '{}' has {} replicas, counted from 0",
                                              options.server, found->spec->replicas));
  return *found->spec;
}

ExitCode tend(const TendOptions& options) {
  const auto run = jobs::load_run(options.run);
  require_own_rights(run, jobs::UsedPart::all, options.trust, true);
  model::take_environment_keys(run.grid.models);  // none is a server's business
  const auto& spec = server_in(run.grid, options);
  const auto allocation = site_allocation();
  model::KeeperOptions how{.log_folder = run.log_folder(),
                           .name = {options.owner, options.server, options.replica},
                           .host = options.host,
                           .machine = options.machine,
                           .job = "",
                           .parent = options.parent,
                           .is_wanted = {},
                           .begun = {}};
  if (options.job) {
    how.name.owner = log::kJobsOwn;
    how.host = "0.0.0.0";
    how.machine = host_name();
    how.job = allocation->job();
    how.is_wanted = [&] { return allocation->has_elements(run); };
  }
  how.begun = [] { fmt::print("begun\n"), std::fflush(stdout); };
  how.quiet = options.quiet;
  const auto failure = model::keep_server(spec, how);
  if (failure.empty()) return ExitCode::done;
  // Whoever started us reads it in the note.
  if (options.parent == 0) throw Error(ErrorCode::external, failure);
  return ExitCode::external;
}

}  // namespace

Verb tend_verb() {
  return {"tend",
          "keeps a model's server: starts it, notes whether it works, starts it once more, ends it with the run",
          [](CLI::App& app) -> Action {
            app.group("");  // `run` and `submit` start it
            auto options = std::make_shared<TendOptions>();
            app.add_option("run", options->run, "a frozen run")->required()->type_name("RUN");
            app.add_option("server", options->server, "the model that has the server")->required()->type_name("MODEL");
            want_whole(app.add_option("--replica", options->replica, "which of its replicas")->capture_default_str(), 0,
                       1'000'000);
            app.add_option("--for", options->owner, "the session that it is kept for")->capture_default_str();
            app.add_option("--host", options->host, "address to listen on")->capture_default_str();
            app.add_option("--machine", options->machine, "address to be found under")->capture_default_str();
            want_whole(app.add_option("--parent", options->parent, "ends with this process"), 0, 1 << 30);
            app.add_flag("--job", options->job, "for the elements of the run, as a job beside them");
            add_trust_option(app, options->trust);
            app.add_flag("-q,--quiet", options->quiet, "no notices");
            return [options] { return tend(*options); };
          }};
}

}  // namespace nkigrid::cli
