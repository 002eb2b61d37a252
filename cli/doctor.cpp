#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/cluster.hpp"
#include "cli/doctor_mpi.hpp"
#include "cli/doctor_torch.hpp"
#include "cli/grids.hpp"
#include "cli/json_text.hpp"
#include "cli/own_rights.hpp"
#include "cli/schedulers.hpp"
#include "cli/terminal.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"
#include "jobs/base/wrapped.hpp"
#include "jobs/finding.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/servers.hpp"
#include "runner/device/make_device.hpp"
#include "runner/model/served.hpp"
#include "runner/proc/sandbox_properties.hpp"

namespace nkigrid::cli {
namespace {

using jobs::Finding;
using jobs::lacks;
using jobs::look;
using jobs::Need;
using jobs::not_needed;
using jobs::word_of;

struct DoctorOptions {
  std::string grid;
  bool json = false, probe = false, trust = false;
  double patience = 300;  ///< [s]
  std::uint32_t mpi = 0;  ///< ranks to join as one of them, and nothing else; 0: look at the machine
};

std::string look_at_device(const jobs::CheckSpec& check, const jobs::DeviceSpec& spec) {
  const auto paths = device::default_device_paths();
  const auto device = device::make_device(spec, check, 1, device::start_servers(spec.backend, check, paths, 1), paths);
  return fmt::format("{} backend, compiler {}; the canary kernel compiles and gives the right numbers in a {} sandbox",
                     device->backend(), device->compiler(), check.strict_sandbox ? "strict" : "relaxed");
}

/// Who keeps a kernel from what, by property; the first named is relied on.
std::string look_at_sandbox(const jobs::CheckSpec& check) {
  std::vector<std::string> properties;
  for (const auto& property : proc::sandbox_properties())
    properties.push_back(
        fmt::format("{}: {}", property.name,
                    property.providers.empty() ? "nobody" : fmt::to_string(fmt::join(property.providers, ", "))));
  if (const auto missing = proc::missing_sandbox_parts(); check.strict_sandbox && !missing.empty())
    lacks(fmt::format("{}; it lacks {}; use a kernel that has it, or say 'sandbox: relaxed' under check",
                      fmt::join(properties, "; "), fmt::join(missing, " and ")));
  return fmt::to_string(fmt::join(properties, "; "));
}

/// Journals and shard ownership rest on flock; some NFS mounts have none.
std::string look_at_locks() {
  const auto path = std::filesystem::current_path() / fmt::format(".nkigrid-doctor-{}", ::getpid());
  Fd first(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!first) throw_errno(errno, "write in", path.parent_path().native());
  const Fd second(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ::unlink(path.c_str());
  if (::flock(first.get(), LOCK_EX | LOCK_NB) != 0)
    lacks("the file system of this folder has no locks; do not start one shard twice here");
  if (::flock(second.get(), LOCK_EX | LOCK_NB) == 0)
    lacks("file locks of this folder do not exclude; do not start one shard twice here");
  return fmt::format("'{}' can be written and has locks", path.parent_path().native());
}

std::string look_at_space() {
  /// A run of 10^4 episodes logs about a gigabyte before deduplication.
  constexpr std::uint64_t kWanted = 1ULL << 30;
  struct statvfs stat = {};
  const auto folder = std::filesystem::current_path();
  if (::statvfs(folder.c_str(), &stat) != 0) throw_errno(errno, "look at", folder.native());
  const std::uint64_t free_bytes = std::uint64_t{stat.f_bavail} * stat.f_frsize;
  if (free_bytes < kWanted)
    lacks(fmt::format("only {} MiB are free in '{}'; a large run wants a GiB", free_bytes >> 20, folder.native()));
  return fmt::format("{:.1f} GiB free in '{}'", static_cast<double>(free_bytes) / (1ULL << 30), folder.native());
}

/// The list of models, and with --probe a word: a grid must not find out at its first episode.
std::vector<Finding> look_at_model(const jobs::ModelSpec& model, bool probe) {
  constexpr Seconds kList{5}, kToken{60};
  const auto what = "model " + model.name;
  std::vector<Finding> findings{look(what, Need::needed, [&] { return model::look_at_served(model, kList); })};
  if (probe && findings.front().ok)
    findings.push_back(look(what, Need::needed, [&] { return model::ask_for_a_word(model, kToken); }));
  return findings;
}

/// The program of a server that runs would start here; a job's node may have another PATH.
Finding look_at_server(const jobs::KeptServer& server, bool as_jobs) {
  return look("server " + server.name, as_jobs ? Need::useful : Need::needed, [&] {
    const auto& name = server.spec->command.front();
    const auto program = name.find('/') == std::string::npos ? find_program(name) : std::filesystem::path(name);
    if (!program || ::access(program->c_str(), X_OK) != 0)
      lacks(fmt::format("there is no program '{}'{}; install it, or correct models.{}.server.command", name,
                        as_jobs ? " on this machine" : "", server.name));
    return fmt::format("'{}' is there; it is started with the run{}", program->native(),
                       as_jobs ? ", on a node that nobody has looked at" : "");
  });
}

/// What only some grids use. Without a grid all of it is looked at, and nothing of it is missed.
std::vector<Finding> look_at_parts_for(const std::optional<jobs::Grid>& grid, const jobs::CheckSpec& check,
                                       const jobs::DeviceSpec& spec) {
  const auto name = jobs::name_of(spec.backend);
  std::vector<Finding> findings;
  for (const auto& parts : device::machine_parts(spec, check)) {
    findings.push_back(grid && parts.backend != name
                           ? not_needed(parts.backend, fmt::format("the grid's backend is {}", name))
                           : look(parts.backend, grid ? Need::needed : Need::optional, parts.look));
  }
  return findings;
}

Finding look_at_mpi_for(const std::optional<jobs::Grid>& grid) {
  if (grid && !grid->slurm.given)
    return not_needed("mpi", "the grid has no slurm section (`run` works on one machine, with or without mpirun)");
  // `submit` refuses without it, and no element begins.
  return look("mpi", grid ? Need::needed : Need::optional, look_at_mpirun);
}

std::vector<Finding> look_at_everything(const std::optional<jobs::Grid>& grid, jobs::Scheduler& scheduler, bool probe) {
  const auto check = grid ? grid->check : jobs::CheckSpec{};
  const auto spec = grid ? grid->device : jobs::DeviceSpec{};
  std::vector<Finding> findings;
  const auto add = [&findings](std::vector<Finding> more) {
    std::move(more.begin(), more.end(), std::back_inserter(findings));
  };
  add({look("sandbox", Need::needed, [&] { return look_at_sandbox(check); }),
       look("device", Need::needed, [&] { return look_at_device(check, spec); })});
  add(look_at_parts_for(grid, check, spec));
  add({look("references", Need::needed, [] { return look_at_torch(); }), look("locks", Need::useful, look_at_locks),
       look("disk", Need::useful, look_at_space), look_at_mpi_for(grid)});
  add(scheduler.look(grid));
  for (const auto& model : grid ? grid->models : std::vector<jobs::ModelSpec>{}) {
    if (jobs::has_endpoint(model.api) && jobs::kept_server_of(model.api).empty()) add(look_at_model(model, probe));
  }
  for (const auto& server : grid ? jobs::servers_of(*grid) : std::vector<jobs::KeptServer>{})
    add({look_at_server(server, grid->slurm.given)});
  return findings;
}

ExitCode doctor(const DoctorOptions& options) {
  std::optional<jobs::Grid> grid;
  if (!options.grid.empty()) grid = open_grid_to_use(options.grid, {}, jobs::UsedPart::all, options.trust);
  const auto scheduler = site_scheduler();
  auto findings = look_at_everything(grid, *scheduler, options.probe);
  if (options.probe && (!grid || grid->slurm.given)) {
    for (auto& finding : scheduler->probe(grid.value_or(jobs::Grid{}), program_path(), Seconds(options.patience)))
      findings.push_back(std::move(finding));
  }
  constexpr std::size_t kTextColumn = 22;
  const auto columns = terminal_columns(STDOUT_FILENO);
  auto code = ExitCode::done;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& finding : findings) {
    const bool needed = finding.need == Need::needed;
    if (!finding.ok && needed) code = ExitCode::external;
    if (options.json)
      list.push_back({{"what", finding.what},
                      {"ok", finding.ok},
                      {"needed", needed},
                      {"word", word_of(finding)},
                      {"text", finding.text}});
    else
      say("{:<8} {:<12} {}\n", word_of(finding), finding.what,
          wrapped(finding.text, columns, kTextColumn, kTextColumn));
  }
  if (options.json) fmt::print("{}", json_text({{"version", 1}, {"findings", list}}));
  return code;
}

}  // namespace

Verb doctor_verb(ProgramArguments arguments) {
  return {
      "doctor", "looks at device, sandbox, references, locks, disk, MPI, Slurm and a grid's endpoints; says what to do",
      [arguments](CLI::App& app) -> Action {
        auto options = std::make_shared<DoctorOptions>();
        app.add_option("grid", options->grid,
                       "looks at what this grid uses: its backend, endpoints, partition; without one at everything")
            ->type_name("GRID");
        add_trust_option(app, options->trust);
        app.add_flag("--json", options->json, "machine readable");
        app.add_flag("--probe", options->probe,
                     "asks each model with an endpoint for a word, says what it wants otherwise than the grid, and "
                     "submits a one-minute array with the grid's Slurm "
                     "settings that looks at two nodes from the inside");
        want_positive(app.add_option("--patience", options->patience, "how long to wait for the probe [s]")
                          ->capture_default_str());
        want_whole(app.add_option("--mpi", options->mpi,
                                  "only joins N ranks: mpirun -n N nkigrid doctor --mpi N tries an MPI launcher")
                       ->type_name("N"),
                   0, 1'000'000);
        return
            [options, arguments] { return options->mpi > 0 ? join_ranks(options->mpi, arguments) : doctor(*options); };
      }};
}

}  // namespace nkigrid::cli
