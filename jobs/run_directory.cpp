#include "jobs/run_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/version.hpp"
#include "jobs/grid/read.hpp"
#include "jobs/grid/write.hpp"
#include "jobs/make_plan.hpp"
#include "jobs/own_run.hpp"
#include "jobs/run_difference.hpp"
#include "jobs/run_folders.hpp"
#include "jobs/run_inputs.hpp"
#include "jobs/run_secret.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

constexpr std::uint32_t kRunFormat = 1;

/// One freezer at a time. The lock goes with the descriptor, so a killed process leaves none behind. Where the file
/// system has no locks (some network ones) nobody is kept out: each file is still replaced whole.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder) {
    const auto path = folder / ".lock";
    fd_ = open_own_file(path, O_RDWR);
    while (::flock(fd_.get(), LOCK_EX) != 0) {
      if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL) return;
      if (errno != EINTR) throw_errno(errno, "lock", path.native());
    }
  }

 private:
  Fd fd_;
};

std::string new_run_id() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

/// What the frozen grid says of a secret: nobody can tell it from that.
std::string sha256_of_secret(const std::string& secret) { return secret.empty() ? "" : sha256_hex(secret); }

void require_frozen(const fs::path& file, const std::string& secret, const std::string& hash) {
  if (sha256_of_secret(secret) != hash)
    throw Error(ErrorCode::corrupt,
                fmt::format("'{}' is not the one that the run was frozen with; restore it, or freeze a new run",
                            file.native()));
}

struct FrozenSecret {
  std::string digits;  ///< "": none, or lost
  Lost lost = Lost::no;
};

/// Who may not read it goes on without: what needs it asks for it (require_log_key(), require_secret()).
FrozenSecret secret_of(const fs::path& folder, const Resolved& resolved) {
  if (!can_read_secret(folder, kSecretFile)) return {{}, Lost::unreadable};
  auto secret = read_secret(folder, kSecretFile);
  require_frozen(folder / kSecretFile, secret, resolved.secret_hash);
  return {std::move(secret)};
}

/// A run that was frozen without a key has none, whatever lies there; one whose key is lost is read unverified.
FrozenSecret log_key_of(const fs::path& folder, const Resolved& resolved) {
  if (resolved.log_key_hash.empty()) return {};
  if (!can_read_secret(folder, kLogKeyFile)) return {{}, Lost::unreadable};
  auto key = read_secret(folder, kLogKeyFile);
  if (key.empty()) return {{}, Lost::gone};
  require_frozen(folder / kLogKeyFile, key, resolved.log_key_hash);
  return {std::move(key)};
}

/// What makes a run that one and no other.
struct Identity {
  std::string run_id, secret_hash, log_key_hash;
};

constexpr const char* kPlanFile = "plan/plan.json";
constexpr const char* kCostsFile = "plan/costs.json";
constexpr const char* kGridFile = "grid.yaml";

fs::path plan_file(const fs::path& folder) { return folder / kPlanFile; }
fs::path costs_file(const fs::path& folder) { return folder / kCostsFile; }

/// The costs a run was frozen with, or nothing learnt.
CostModel frozen_costs(const fs::path& folder) {
  if (!has_foreign_file(folder, kCostsFile)) return {};
  return costs_from_json(read_foreign_file(folder, kCostsFile), costs_file(folder));
}

/// A frozen run with what a growth of it needs.
struct OpenRun {
  Run run;
  Identity identity;
  std::vector<PlanExtent> grown_from;
};

enum class LostPlan { refused, made_anew };

/// What a run grew from, as plan.json has it. A plan that is lost is made anew without: episodes may go to other
/// shards, the log counts them all the same.
std::vector<PlanExtent> read_grown_from(const fs::path& folder, LostPlan lost, std::string& plan_text) {
  const auto file = plan_file(folder);
  try {
    plan_text = has_foreign_file(folder, kPlanFile) ? read_foreign_file(folder, kPlanFile) : std::string();
    return extents_from_json(plan_text, file);
  } catch (const Error& error) {
    if (lost == LostPlan::refused || error.code() != ErrorCode::corrupt) throw;
    plan_text.clear();
    return {};
  }
}

OpenRun open_run(const fs::path& folder, LostPlan lost = LostPlan::refused) {
  require_own_folders(folder);
  std::error_code ignored;
  if (!is_run(folder) && fs::exists(folder / "grid.yaml", ignored) && fs::exists(plan_file(folder), ignored))
    throw Error(ErrorCode::corrupt,
                fmt::format("'{}' has lost its end (no `resolved:` in it); restore it, the log beside it is untouched",
                            (folder / "grid.yaml").native()));
  if (!is_run(folder))
    throw Error(ErrorCode::config, fmt::format("'{}' is no run (no frozen grid.yaml in it); `run GRID -o {}` makes one",
                                               folder.native(), folder.native()));
  const auto resolved_hashes = read_grid_file(folder / "grid.yaml", {});
  // A changed input may show up as a problem of the grid (a prompt that is gone): its hash is the better
  // message.
  if (resolved_hashes.resolved) verify_inputs(folder / "inputs", resolved_hashes.resolved->inputs);
  if (!resolved_hashes.grid) {
    throw Error(ErrorCode::corrupt, fmt::format("the frozen grid was damaged; restore it, or freeze a new run:\n{}",
                                                to_text(resolved_hashes.problems)));
  }
  const auto& resolved = *resolved_hashes.resolved;
  if (resolved.format != kRunFormat) {
    throw Error(ErrorCode::config, fmt::format("'{}' is a run of format {} (this program reads {}); use nkigrid {}",
                                               folder.native(), resolved.format, kRunFormat, resolved.nkigrid_version));
  }
  OpenRun open;
  open.run.folder = folder;
  open.run.grid = *resolved_hashes.grid;
  open.run.benchmark = *resolved_hashes.benchmark;
  open.run.run_id = resolved.run_id;
  open.run.grid_hash = resolved.grid_hash;
  auto secret = secret_of(folder, resolved);
  open.run.secret = std::move(secret.digits), open.run.lost_secret = secret.lost;
  auto key = log_key_of(folder, resolved);
  open.run.log_key = std::move(key.digits), open.run.lost_log_key = key.lost;
  open.identity = {resolved.run_id, resolved.secret_hash, resolved.log_key_hash};
  std::string plan_text;
  open.grown_from = read_grown_from(folder, lost, plan_text);
  open.run.costs = frozen_costs(folder);
  open.run.plan = make_plan(open.run.grid, open.run.benchmark, open.grown_from, open.run.costs);
  if (grid_hash(open.run.plan) != resolved.grid_hash || open.run.grid.seed != resolved.seed) {
    if (!plan_text.empty()) verify_plan_json(plan_text, open.run.plan, plan_file(folder));
    throw Error(ErrorCode::corrupt, fmt::format("'{}' was changed after the freeze (its {} differs from the "
                                                "one under `resolved:`); restore it, or freeze "
                                                "a new run",
                                                (folder / "grid.yaml").native(),
                                                open.run.grid.seed != resolved.seed ? "seed" : "grid hash"));
  }
  return open;
}

void refuse_other_grid(const Run& was, const Grid& grid, const Benchmark& benchmark, const Plan& plan) {
  const auto faults = growth_faults({was.grid, was.benchmark, was.plan}, {grid, benchmark, plan});
  if (faults.empty()) return;
  std::string text = fmt::format(
      "'{}' holds a run that this grid does not grow from (a run may gain replicates, tasks and cells); "
      "choose another "
      "folder, or undo:",
      was.folder.native());
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < std::min(kShown, faults.size()); ++i) text += "\n  " + faults[i];
  if (faults.size() > kShown) text += fmt::format("\n  and {} more", faults.size() - kShown);
  throw Error(ErrorCode::config, text);
}

Resolved resolve(const Grid& grid, const Plan& plan, const Identity& identity,
                 const std::map<std::string, std::string>& files) {
  Resolved resolved;
  resolved.format = kRunFormat;
  resolved.nkigrid_version = kVersion;
  resolved.run_id = identity.run_id;
  resolved.grid_hash = grid_hash(plan);
  resolved.secret_hash = identity.secret_hash;
  resolved.log_key_hash = identity.log_key_hash;
  resolved.seed = grid.seed;
  resolved.subset = grid.tasks;
  for (const auto& cell : grid.cells) {
    if (!cell.subset.empty()) resolved.cell_subsets[cell.id] = cell.subset;
  }
  resolved.inputs = frozen_hashes(grid, files);
  return resolved;
}

/// Replaces a file unless it holds these bytes already: an unchanged run is not touched.
void write_if_other(const fs::path& path, const std::string& bytes) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored) && read_file(path) == bytes) return;
  write_file_atomic(path, bytes);
}

/// What models were asked and said is its owner's, and files of the log are as open as their folder.
void make_log_folder(const fs::path& log, bool shared) {
  make_directories(log);
  const mode_t mode = (shared ? 0777U : 0700U) & ~file_mask();
  if (::chmod(log.c_str(), mode) != 0 && errno != EPERM) throw_errno(errno, "set the mode of", log.native());
}

/// grid.yaml comes last: until it stands there, nothing of this is a run; while the old one stands, the old
/// run is whole.
void write_run(const Grid& grid, const Benchmark& benchmark, const Plan& plan, const Identity& identity,
               const std::vector<PlanExtent>& grown_from, const fs::path& folder) {
  const auto files = input_files(grid, benchmark, plan);
  const auto resolved = resolve(grid, plan, identity, files);
  for (const auto* name : {"inputs", "plan"}) make_directories(folder / name);
  make_log_folder(folder / "log", grid.share_transcripts);
  write_inputs(folder / "inputs", files);
  write_if_other(plan_file(folder), plan_to_json(plan, resolved.grid_hash, grown_from));
  write_if_other(folder / "grid.yaml", to_yaml(grid, &resolved));
}

}  // namespace

RunName read_run_name(const fs::path& folder) {
  require_own_folders(folder);
  if (!is_run(folder))
    throw Error(ErrorCode::config,
                fmt::format("not a run '{}' (a folder with a frozen grid.yaml); give the folder that `run -o` made",
                            folder.native()));
  const auto file = read_grid_file(folder / "grid.yaml", {});
  if (!file.resolved || file.resolved->run_id.empty())
    throw Error(ErrorCode::corrupt,
                fmt::format("'{}' does not tell its run_id (under `resolved:`); restore it, the log "
                            "beside it is untouched",
                            (folder / "grid.yaml").native()));
  auto [key, lost] = log_key_of(folder, *file.resolved);
  return {file.resolved->run_id, std::move(key), lost};
}

void require_log_key(const fs::path& folder, Lost lost) {
  if (lost == Lost::no) return;
  if (lost == Lost::unreadable)
    throw Error(ErrorCode::io, fmt::format("'{}' cannot be read by this user, and it seals this run's log: what is "
                                           "written without it would not count; let the run's owner do this",
                                           (folder / kLogKeyFile).native()));
  throw Error(
      ErrorCode::corrupt,
      fmt::format("'{}' is lost, which seals this run's log: what is written without it would not count once it "
                  "is back; restore it, or, if it is gone for good, take the line log_key out of '{}'",
                  (folder / kLogKeyFile).native(), (folder / kGridFile).native()));
}

void require_secret(const Run& run) {
  if (run.lost_secret == Lost::no) return;
  throw Error(ErrorCode::io,
              fmt::format("'{}' cannot be read by this user, and inputs of checks are drawn from it; let "
                          "the run's owner do this",
                          (run.folder / kSecretFile).native()));
}

std::string unverified_words(Lost lost) {
  return fmt::format(
      "the log is unverified: {}, so nothing proves that nobody changed it",
      lost == Lost::unreadable ? "the run's log_key cannot be read by this user" : "there is no log_key in the run");
}

bool is_run(const fs::path& path) noexcept {
  try {
    std::error_code ignored;
    return fs::is_regular_file(path / kGridFile, ignored) &&
           read_foreign_file(path, kGridFile).find("\nresolved:\n") != std::string::npos;
  } catch (...) {
    return false;
  }
}

Run load_run(const fs::path& folder) { return open_run(folder).run; }

namespace {

/// Who gives a grid knows its commands.
Run own(Run run) {
  mark_as_own(run);
  return run;
}

}  // namespace

Run freeze_run(const Grid& grid, const Benchmark& benchmark, const fs::path& folder, const CostModel& costs) {
  make_directories(folder);
  const FolderLock lock(folder);
  std::error_code ignored;
  if (fs::exists(folder / "grid.yaml", ignored) && !is_run(folder)) {
    throw Error(ErrorCode::config, fmt::format("'{}' is no frozen grid and would be overwritten; choose another folder",
                                               (folder / "grid.yaml").native()));
  }
  if (!is_run(folder)) {
    make_directories(folder / "plan");
    fs::remove(costs_file(folder), ignored);  // of a freeze that did not come to its end
    if (costs.learnt()) write_file_atomic(costs_file(folder), to_json(costs));
    const Identity identity{new_run_id(), sha256_of_secret(make_secret(folder)),
                            sha256_of_secret(make_secret(folder, kLogKeyFile))};
    write_run(grid, benchmark, make_plan(grid, benchmark, {}, costs), identity, {}, folder);
    return own(load_run(folder));
  }
  auto open = open_run(folder, LostPlan::made_anew);
  const auto& frozen = open.run.costs;
  auto plan = make_plan(grid, benchmark, open.grown_from, frozen);
  refuse_other_grid(open.run, grid, benchmark, plan);
  if (const auto before = extent_of(open.run.plan); before != extent_of(plan)) {
    if (open.grown_from.empty() || open.grown_from.back() != before) open.grown_from.push_back(before);
    plan = make_plan(grid, benchmark, open.grown_from, frozen);
  }
  write_run(grid, benchmark, plan, open.identity, open.grown_from, folder);
  return own(load_run(folder));
}

}  // namespace nkigrid::jobs
