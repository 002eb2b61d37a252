#include "cli/reverified_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "cli/grids.hpp"
#include "jobs/base/build_name.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/hash.hpp"
#include "runner/log/history.hpp"
#include "runner/log/journal.hpp"

namespace nkigrid::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEpisodesAtOnce = 256;  // histories in memory; one pass over the log each

/// Models answer from the earlier run's log, where they are asked at all: only to be told again that a context is full.
jobs::Grid reverified_grid(const jobs::Run& run, const jobs::Grid& device, std::uint32_t turns) {
  auto grid = run.grid;
  grid.name = device.name;
  grid.benchmark = device.benchmark;
  grid.seed = device.seed;
  grid.device = device.device;
  grid.check = device.check;
  grid.lanes = device.lanes;
  grid.infra_retries = device.infra_retries;
  grid.slurm = device.slurm;
  grid.budget = {};
  for (auto& cell : grid.cells) cell.budget = {};
  const auto hash = sha256_hex(read_file(run.folder / "grid.yaml"));
  for (auto& model : grid.models) {
    model.api = jobs::Replay{fs::absolute(run.folder).lexically_normal(), model.name, hash};
    model.budget = {};
    model.concurrency = 0;
  }
  for (auto& mode : grid.modes) mode.turns = turns == 0 ? mode.turns : std::min(mode.turns, turns);
  return grid;
}

/// A folder that is removed again where its run does not come to be.
class Unfinished {
 public:
  explicit Unfinished(const fs::path& run) : folder_(run.native() + fmt::format(".making-{}", ::getpid())) {}
  ~Unfinished() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  const fs::path& folder() const noexcept { return folder_; }
  void finish(const fs::path& run) const {
    std::error_code error;
    fs::rename(folder_, run, error);
    if (error) throw_errno(error.value(), "make", run.native());
    fsync_directory(fs::absolute(run).parent_path());
  }

 private:
  fs::path folder_;
};

/// An attempt without its end. Nothing is paid for it here.
void append_attempt(std::vector<log::Record>& records, const log::AttemptId& id, const log::End& end,
                    std::vector<log::LoggedTurn> history) {
  records.emplace_back(log::Begin{id, 0, end.node, end.rank, end.started});
  for (auto& turn : history) {
    turn.reply.id = turn.turn->id = id;
    turn.reply.cost_usd = 0;
    records.emplace_back(std::move(turn.reply));
    records.emplace_back(std::move(*turn.turn));
  }
}

class TurnsOfRun {
 public:
  TurnsOfRun(const jobs::Run& from, const log::Ledger& ledger, const jobs::Run& to, std::uint32_t turns)
      : from_(from), ledger_(ledger), turns_(turns) {
    for (const auto& episode : to.plan.episodes)
      keys_[to.plan.id_of(episode)] = to.plan.key(episode.cell, episode.task);
  }

  void copy(log::Journal& journal) {
    const auto& episodes = from_.plan.episodes;
    for (std::size_t first = 0; first < episodes.size(); first += kEpisodesAtOnce)
      copy(journal, first, std::min(first + kEpisodesAtOnce, episodes.size()));
  }

 private:
  void copy(log::Journal& journal, std::size_t first, std::size_t end) {
    std::vector<log::HistoryKey> wanted;
    for (auto i = first; i < end; ++i) {
      const auto& episode = from_.plan.episodes[i];
      wanted.push_back({from_.plan.id_of(episode), from_.plan.key(episode.cell, episode.task)});
    }
    auto histories = log::read_histories(log::log_of(from_), wanted);
    std::vector<log::Record> records;
    for (auto i = first; i < end; ++i) {
      auto& history = histories[i - first];
      const auto& id = wanted[i - first].episode;
      require_whole(id, *ledger_.ends[i], history);
      if (turns_ > 0 && history.size() > turns_) history.resize(turns_);
      append_attempt(records, {id, keys_.at(id), 1}, *ledger_.ends[i], std::move(history));
    }
    journal.append(records);
  }

  void require_whole(const EpisodeId& id, const log::End& end, const std::vector<log::LoggedTurn>& history) const {
    if (history.size() == end.turns && (history.empty() || history.back().turn)) return;
    throw Error(ErrorCode::corrupt,
                fmt::format("turns of '{}' are missing in the log of '{}' (it has {} of {}); `nkigrid log check` tells "
                            "which file is damaged",
                            to_string(id), from_.folder.native(), history.size(), end.turns));
  }

  const jobs::Run& from_;
  const log::Ledger& ledger_;
  std::uint32_t turns_;
  std::map<EpisodeId, std::string> keys_;
};

}  // namespace

void make_reverified_run(const jobs::Run& run, const log::Ledger& ledger, const jobs::Grid& device, std::uint32_t turns,
                         const fs::path& folder) {
  if (const auto outstanding = ledger.outstanding(); outstanding > 0)
    throw Error(ErrorCode::usage, fmt::format("{} episodes of '{}' are outstanding (their kernels are not final); "
                                              "`nkigrid resume {}` first",
                                              outstanding, run.folder.native(), run.folder.native()));
  std::error_code ignored;
  if (fs::exists(folder, ignored))
    throw Error(ErrorCode::usage, fmt::format("'{}' exists; `nkigrid resume {}` goes on with a run, another one wants "
                                              "another folder (-o)",
                                              folder.native(), folder.native()));
  const auto grid = reverified_grid(run, device, turns);
  const Unfinished making(folder);
  const auto made = jobs::freeze_run(grid, benchmark_of(grid), making.folder());
  log::Journal journal(made.log_folder(), "reverified-" + run.run_id,
                       {made.grid_hash, made.run_id, build_name(), grid.device.nki.sdk,
                        std::string(name_of(grid.device.backend)), "", ""},
                       log::SealKey(made.log_key));
  TurnsOfRun(run, ledger, made, turns).copy(journal);
  journal.close();
  making.finish(folder);
}

}  // namespace nkigrid::cli
