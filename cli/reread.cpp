#include <map>
#include <memory>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/json_text.hpp"
#include "cli/log_folder.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/run_directory.hpp"
#include "runner/agent/reread.hpp"
#include "runner/log/history.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::cli {
namespace {

using nlohmann::ordered_json;

struct RereadOptions {
  std::string run;
  bool json = false, quiet = false;
};

/// What today's reader changes in one cell. An episode that it would read otherwise may end either way.
struct CellChange {
  std::uint64_t scored = 0, passed = 0, changed = 0, changed_passed = 0;

  std::uint64_t fewest() const { return passed - changed_passed; }
  std::uint64_t most() const { return passed + changed - changed_passed; }
};

struct Change {
  std::string episode;
  std::uint32_t turn = 0;
  std::string then, now;
};

struct Rereading {
  std::map<std::string, CellChange> cells;
  std::vector<Change> changes;
  std::uint64_t replies = 0, without_raw = 0;
};

/// Up to the first turn that is read otherwise: what follows it would be another conversation.
void reread_episode(const jobs::Run& run, const jobs::CellSpec& cell, const std::vector<log::LoggedTurn>& turns,
                    const EpisodeId& id, Rereading& all, CellChange& of_cell, bool passed) {
  for (const auto& turn : turns) {
    const auto read = agent::reread(turn, run.grid.model(cell.model), run.grid.mode(cell.mode));
    ++all.replies;
    all.without_raw += read.has_raw ? 0 : 1;
    if (read.then == read.now) continue;
    all.changes.push_back({to_string(id), turn.reply.turn, read.then, read.now});
    ++of_cell.changed;
    of_cell.changed_passed += passed ? 1 : 0;
    return;
  }
}

Rereading reread_run(const jobs::Run& run) {
  Rereading all;
  const log::Ledger ledger = log::read_ledger(run);
  warn_of_log(run, ledger);
  std::vector<log::HistoryKey> wanted;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < run.plan.episodes.size(); ++i) {
    const auto& planned = run.plan.episodes[i];
    if (!ledger.states[i].is_scored()) continue;
    wanted.push_back({run.plan.id_of(planned), run.plan.key(planned.cell, planned.task)});
    places.push_back(i);
  }
  const auto histories = log::read_histories(log::log_of(run), wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& cell = run.plan.cells[run.plan.episodes[places[i]].cell];
    const bool passed = ledger.ends[places[i]] && ledger.ends[places[i]]->passed == 1;
    auto& of_cell = all.cells[cell.id];
    ++of_cell.scored;
    of_cell.passed += passed ? 1 : 0;
    reread_episode(run, cell, histories[i], wanted[i].episode, all, of_cell, passed);
  }
  return all;
}

void print_rereading(const Rereading& all) {
  for (const auto& change : all.changes)
    fmt::print("{} turn {}: read as {}, today as {}\n", change.episode, change.turn, change.then, change.now);
  for (const auto& [cell, of] : all.cells) {
    if (of.changed > 0)
      fmt::print("{}: {} of {} passed; today between {} and {} ({} episodes would go on otherwise)\n", cell, of.passed,
                 of.scored, of.fewest(), of.most(), of.changed);
  }
  fmt::print("{} replies read again, {} of them otherwise; {} have no bytes of a server (synthetic, or lost)\n",
             all.replies, all.changes.size(), all.without_raw);
}

std::string rereading_json(const Rereading& all) {
  ordered_json changes = ordered_json::array(), cells = ordered_json::array();
  for (const auto& change : all.changes)
    changes.push_back({{"episode", change.episode}, {"turn", change.turn}, {"then", change.then}, {"now", change.now}});
  for (const auto& [cell, of] : all.cells) {
    cells.push_back({{"cell", cell},
                     {"scored", of.scored},
                     {"passed", of.passed},
                     {"changed", of.changed},
                     {"fewest_passed", of.fewest()},
                     {"most_passed", of.most()}});
  }
  return json_text({{"version", 1},
                    {"replies", all.replies},
                    {"without_raw", all.without_raw},
                    {"changes", changes},
                    {"cells", cells}});
}

ExitCode reread(const RereadOptions& options) {
  const Rereading all = reread_run(jobs::load_run(options.run));
  if (options.json)
    fmt::print("{}", rereading_json(all));
  else
    print_rereading(all);
  return ExitCode::done;
}

}  // namespace

Verb reread_verb() {
  return {"reread", "reads a run's logged replies by today's reader, and tells what that would change",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<RereadOptions>();
            app.add_option("run", options->run, "run directory")->required()->type_name("RUN");
            app.add_flag("--json", options->json, "machine-readable, on stdout");
            app.add_flag("-q,--quiet", options->quiet, "no notices");
            return [options] { return reread(*options); };
          }};
}

}  // namespace nkigrid::cli
