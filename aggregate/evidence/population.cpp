#include "aggregate/evidence/population.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "aggregate/evidence/factors.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::aggregate {
namespace {

using Replicate = std::pair<std::uint64_t, std::uint32_t>;  // seed, number

/// One (cell, task) of the population.
struct Problem {
  std::string key;
  std::map<Replicate, std::uint32_t> replicates;  ///< its episodes' numbers in the population, given at the end
};

struct MergedCell {
  jobs::CellSpec spec;
  std::map<std::string, Problem> tasks;
  std::set<std::uint64_t> seeds;
};

/// Two folders of one run are copies, and copies have one seed: with another in its grid a copy's episodes would count
/// as replicates that nobody drew.
void require_own_seeds(std::span<const ReadRun> sources) {
  for (const auto& a : sources) {
    for (const auto& b : sources) {
      if (a.run.run_id != b.run.run_id || a.run.grid.seed == b.run.grid.seed) continue;
      throw Error(
          ErrorCode::corrupt,
          fmt::format("'{}' (seed {}) and '{}' (seed {}) are one run ('{}'); its grid.yaml was changed after the "
                      "freeze: restore it, or leave the copy out",
                      a.run.folder.native(), a.run.grid.seed, b.run.folder.native(), b.run.grid.seed, a.run.run_id));
    }
  }
}

/// Builds the population cell by cell, in the order of the runs.
class Merger {
 public:
  explicit Merger(std::span<const ReadRun> sources) : sources_(sources), names_(names_of(sources)) {}

  Population merge() {
    require_own_seeds(sources_);
    population_.run = sources_.front().run;
    for (std::size_t s = 0; s < sources_.size(); ++s) add_source(s);
    lay_out();
    for (std::size_t s = 0; s < sources_.size(); ++s) place_episodes(s);
    say_trust();
    warn();
    return std::move(population_);
  }

 private:
  void add_source(std::size_t s) {
    const auto& plan = sources_[s].run.plan;
    for (const auto& task : plan.tasks) {
      const auto known = tasks_.emplace(task.id, task).first;
      if (known->second.level != task.level || known->second.category != task.category) moved_.insert(task.id);
    }
    cell_of_.emplace_back();
    for (std::uint32_t cell = 0; cell < plan.cells.size(); ++cell) cell_of_.back().push_back(place_cell(s, cell));
    for (const auto& episode : plan.episodes) {
      auto& merged = cells_[cell_of_.back()[episode.cell]];
      auto& problem = merged.tasks[plan.tasks[episode.task].id];
      problem.key = plan.key(episode.cell, episode.task);
      problem.replicates.emplace(Replicate{sources_[s].run.grid.seed, episode.replicate}, 0);
      merged.seeds.insert(sources_[s].run.grid.seed);
    }
    if (s > 0) add_grid(sources_[s].run);
  }

  // The merged cell of this id whose keys agree, or a new one.
  std::size_t place_cell(std::size_t s, std::uint32_t cell) {
    const auto& plan = sources_[s].run.plan;
    const auto& spec = plan.cells[cell];
    std::optional<std::size_t> other;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (plain_cell(cells_[i].spec.id) != spec.id) continue;
      other = i;
      if (agrees(plan, cell, cells_[i])) {
        grow(cells_[i].spec, spec);
        return i;
      }
    }
    cells_.push_back({spec, {}, {}});
    if (other) {
      cells_.back().spec.id = fmt::format("{}@{}", spec.id, names_[s]);
      apart_.push_back(cells_.back().spec.id);
    }
    return cells_.size() - 1;
  }

  static bool agrees(const jobs::Plan& plan, std::uint32_t cell, const MergedCell& merged) {
    for (std::uint32_t task = 0; task < plan.tasks.size(); ++task) {
      const auto& key = plan.key(cell, task);
      if (key.empty()) continue;
      const auto found = merged.tasks.find(plan.tasks[task].id);
      if (found != merged.tasks.end() && found->second.key != key) return false;
    }
    return true;
  }

  static void grow(jobs::CellSpec& spec, const jobs::CellSpec& more) {
    if (spec.subset != more.subset || spec.tasks != more.tasks) {
      std::set<std::string> tasks(spec.tasks.begin(), spec.tasks.end());
      tasks.insert(more.tasks.begin(), more.tasks.end());
      if (tasks.size() != spec.tasks.size()) spec.subset = tasks.size() == more.tasks.size() ? more.subset : "";
      spec.tasks.assign(tasks.begin(), tasks.end());
    }
    spec.replicates = std::max(spec.replicates, more.replicates);
  }

  // Names, contrasts and subsets that the runs before it lack.
  void add_grid(const jobs::Run& run) {
    auto& grid = population_.run.grid;
    if (grid.name != run.grid.name && !used_names_.contains(run.grid.name)) used_names_.insert(run.grid.name);
    const auto unite = [](auto& list, const auto& more) {
      for (const auto& item : more) {
        if (std::none_of(list.begin(), list.end(), [&](const auto& known) { return known.name == item.name; }))
          list.push_back(item);
      }
    };
    const auto first_model = grid.models.empty() ? std::string() : grid.models.front().name;
    for (const auto& model : run.grid.models) {  // a later checkpoint is compared with the first model
      const bool known = std::any_of(grid.models.begin(), grid.models.end(),
                                     [&](const auto& other) { return other.name == model.name; });
      if (!known && !first_model.empty()) {
        grid.contrasts.push_back({fmt::format("{}-vs-{}", model.name, first_model),
                                  {{"model", model.name}},
                                  {{"model", first_model}},
                                  {"all"}});
      }
    }
    unite(grid.models, run.grid.models);
    unite(grid.modes, run.grid.modes);
    unite(grid.prompts, run.grid.prompts);
    unite(grid.contrasts, run.grid.contrasts);
    if (grid.factors.empty()) grid.factors = run.grid.factors;
    population_.run.benchmark.about.insert(run.benchmark.about.begin(), run.benchmark.about.end());
    for (const auto& [name, ids] : run.benchmark.subsets) {
      const auto known = population_.run.benchmark.subsets.emplace(name, ids).first;
      if (known->second != ids)
        population_.warnings.push_back(
            fmt::format("subset {} has other tasks in a later run; the first run's are used", name));
    }
  }

  // The plan in its order: cell, task, replicate; numbers from 1 over all seeds, the first run's first.
  void lay_out() {
    auto& plan = population_.run.plan;
    plan = {};
    for (const auto& name : used_names_) population_.run.grid.name += "+" + name;
    std::map<std::string, std::uint32_t> index;
    for (const auto& [id, task] : tasks_) {
      index.emplace(id, static_cast<std::uint32_t>(plan.tasks.size()));
      plan.tasks.push_back(task);
    }
    for (std::uint32_t cell = 0; cell < cells_.size(); ++cell) {
      auto& merged = cells_[cell];
      plan.keys.resize(plan.keys.size() + plan.tasks.size());
      for (auto& [id, problem] : merged.tasks) {
        plan.keys[cell * plan.tasks.size() + index.at(id)] = problem.key;
        std::uint32_t number = 0;
        for (auto& [replicate, place] : ordered(problem)) {
          place.get() = static_cast<std::uint32_t>(plan.episodes.size());
          plan.episodes.push_back({cell, index.at(id), ++number, 0});
        }
        merged.spec.replicates = std::max(merged.spec.replicates, number);
      }
      plan.cells.push_back(merged.spec);
    }
    population_.run.grid.cells = plan.cells;
    auto& ledger = population_.ledger;
    ledger.states.resize(plan.episodes.size());
    ledger.ends.resize(plan.episodes.size());
    population_.counted_in.assign(plan.episodes.size(), kNone);
  }

  std::vector<std::pair<Replicate, std::reference_wrapper<std::uint32_t>>> ordered(Problem& problem) const {
    std::vector<std::pair<Replicate, std::reference_wrapper<std::uint32_t>>> list;
    for (const auto& source : sources_) {
      for (auto& [replicate, place] : problem.replicates) {
        const bool listed =
            std::any_of(list.begin(), list.end(), [&](const auto& known) { return known.first == replicate; });
        if (replicate.first == source.run.grid.seed && !listed) list.emplace_back(replicate, place);
      }
    }
    return list;
  }

  void place_episodes(std::size_t s) {
    const auto& source = sources_[s];
    const auto& plan = source.run.plan;
    auto& ledger = population_.ledger;
    auto& places = population_.places.emplace_back();
    for (std::size_t i = 0; i < plan.episodes.size(); ++i) {
      const auto& episode = plan.episodes[i];
      const auto& problem = cells_[cell_of_[s][episode.cell]].tasks.at(plan.tasks[episode.task].id);
      const auto place = problem.replicates.at({source.run.grid.seed, episode.replicate});
      places.push_back(place);
      const bool first = population_.counted_in[place] == kNone;
      const auto& end = source.ledger.ends[i];
      auto& known = ledger.ends[place];
      if (known && end) ++(known->outcome == end->outcome && known->passed == end->passed ? repeated_ : disagreeing_);
      if (first ||
          (end && (!known || source.ledger.states[i].counted_attempt > ledger.states[place].counted_attempt))) {
        population_.counted_in[place] = static_cast<std::uint32_t>(s);
        ledger.states[place] = source.ledger.states[i];
        known = end;
      }
    }
    ledger.warnings.insert(ledger.warnings.end(), source.ledger.warnings.begin(), source.ledger.warnings.end());
    for (const auto& words : source.ledger.trust) {
      auto said = std::find_if(said_.begin(), said_.end(), [&](const auto& known) { return known.first == words; });
      if (said == said_.end()) said = said_.insert(said, {words, {}});
      said->second.push_back(source.run.folder.native());
    }
    ledger.ignored_rows += source.ledger.ignored_rows;
    ledger.foreign_files += source.ledger.foreign_files;
    ledger.unproven_files += source.ledger.unproven_files;
    ledger.copied_files += source.ledger.copied_files;
    for (const auto& [build, nodes] : source.ledger.builds) ledger.builds[build].insert(nodes.begin(), nodes.end());
  }

  /// Of which runs it holds: their folders, as they were named, for whoever follows the words.
  void say_trust() {
    for (const auto& [words, folders] : said_)
      population_.ledger.trust.push_back(sources_.size() == 1 ? words
                                                              : fmt::format("{}: {}", fmt::join(folders, ", "), words));
  }

  void warn() {
    auto& warnings = population_.warnings;
    if (!apart_.empty()) {
      warnings.push_back(
          fmt::format("{} {} kept apart: under the plain name another run has other model parameters, "
                      "prompt, checks, device or tasks",
                      fmt::join(apart_, ", "), apart_.size() == 1 ? "is" : "are"));
    }
    const auto several =
        std::count_if(cells_.begin(), cells_.end(), [](const auto& cell) { return cell.seeds.size() > 1; });
    if (several > 0)
      warnings.push_back(
          fmt::format("replicates of {} cell{} come from runs of several seeds", several, several == 1 ? "" : "s"));
    if (repeated_ > 0)
      warnings.push_back(
          fmt::format("{} episodes are scored in several runs of one seed, alike; each counts once", repeated_));
    if (disagreeing_ > 0) {
      warnings.push_back(
          fmt::format("{} episodes are scored in several runs of one seed, and differ; the highest attempt "
                      "counts, then the run named first",
                      disagreeing_));
    }
    for (const auto& task : moved_)
      warnings.push_back(
          fmt::format("task {} has another level or category in a later run; the first run's are used", task));
  }

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::span<const ReadRun> sources_;
  std::vector<std::string> names_;
  std::vector<std::pair<std::string, std::vector<std::string>>> said_;  ///< words of a ledger's trust, of which runs
  Population population_;
  std::vector<MergedCell> cells_;
  std::vector<std::vector<std::size_t>> cell_of_;  // [source][its cell]
  std::map<std::string, jobs::PlannedTask> tasks_;
  std::set<std::string> moved_, used_names_;
  std::vector<std::string> apart_;
  std::uint64_t repeated_ = 0, disagreeing_ = 0;
};

}  // namespace

std::vector<ReadRun> read_runs(const std::vector<std::string>& folders) {
  std::vector<ReadRun> runs;
  for (const auto& folder : folders) {
    auto run = jobs::load_run(folder);
    auto ledger = log::read_ledger(run);
    runs.push_back({std::move(run), std::move(ledger)});
  }
  return runs;
}

std::vector<std::string> names_of(std::span<const ReadRun> sources) {
  std::vector<std::string> names;
  for (const auto& source : sources) {
    const auto same = std::count_if(sources.begin(), sources.end(),
                                    [&](const auto& other) { return other.run.grid.name == source.run.grid.name; });
    auto folder = std::filesystem::path(source.run.folder).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    names.push_back(same == 1 ? source.run.grid.name : folder.filename().string());
    // Two folders of one name and grid: their content tells them apart.
    if (std::count(names.begin(), names.end(), names.back()) > 1)
      names.back() += "-" + source.run.grid_hash.substr(0, 8);
  }
  return names;
}

Population merge_runs(std::span<const ReadRun> sources) { return Merger(sources).merge(); }

}  // namespace nkigrid::aggregate
