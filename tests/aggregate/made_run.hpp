#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"
#include "tests/log/make_log.hpp"

namespace nkigrid::test {

/// A run and its ledger without files: cells x tasks x replicates with hand-chosen ends.
struct MadeRun {
  jobs::Run run;
  log::Ledger ledger;
};

using Verdict = std::function<std::optional<log::End>(const EpisodeId&)>;  ///< nothing: outstanding

inline log::End ended(bool passed) {
  log::End end;
  end.outcome = passed ? Outcome::pass : Outcome::mismatch;
  end.passed = end.strict_passed = end.best_passed = end.best_strict_passed = passed;
  return end;
}

/// n tasks of one level, named L/000, L/001, ...
inline std::vector<jobs::PlannedTask> made_tasks(const std::string& level, int n) {
  std::vector<jobs::PlannedTask> tasks;
  for (int i = 0; i < n; ++i)
    tasks.push_back({level + "/" + (i < 10 ? "00" : "0") + std::to_string(i), level, i % 2 ? "matmul" : "unary"});
  return tasks;
}

inline std::vector<jobs::PlannedTask> join(std::vector<jobs::PlannedTask> a, const std::vector<jobs::PlannedTask>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline MadeRun made_run(const std::vector<std::string>& cells, std::vector<jobs::PlannedTask> tasks,
                        std::uint32_t replicates, const Verdict& verdict) {
  MadeRun made;
  made.run.grid.name = "made";
  made.run.run_id = made_header().run_id;
  made.run.plan = hand_plan(cells, std::move(tasks), replicates);
  made.run.grid.cells = made.run.plan.cells;
  const auto add_once = [](auto& list, const std::string& name) {
    for (const auto& known : list) {
      if (known.name == name) return;
    }
    list.emplace_back().name = name;
  };
  for (const auto& cell : made.run.plan.cells) {
    add_once(made.run.grid.models, cell.model);
    add_once(made.run.grid.modes, cell.mode);
    add_once(made.run.grid.prompts, cell.prompt);
  }
  for (const auto& planned : made.run.plan.episodes) {
    auto end = verdict(made.run.plan.id_of(planned));
    made.ledger.states.emplace_back();
    if (end) {
      made.ledger.states.back().counted_attempt = 1;
      made.ledger.states.back().outstanding = log::Outstanding::none;
    }
    made.ledger.ends.push_back(std::move(end));
  }
  return made;
}

/// The number of a made task: "L1/007" -> 7.
inline int number_of(const EpisodeId& id) { return std::stoi(id.task.substr(id.task.find('/') + 1)); }

}  // namespace nkigrid::test
