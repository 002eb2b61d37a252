#pragma once

#include <string>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "jobs/plan.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::runner {

/// A plan by hand: models a and b, one mode and prompt, `tasks` tasks, one replicate.
struct PlanFixture {
  jobs::Grid grid;
  jobs::Plan plan;
  log::Ledger ledger;
  std::vector<std::uint32_t> order;

  explicit PlanFixture(std::uint32_t tasks) {
    grid.infra_retries = 2;
    for (const char* model : {"a", "b"}) {
      grid.models.push_back({.name = model, .api = jobs::Synthetic{}});
      plan.cells.push_back({.id = std::string(model) + ".ss.naive", .model = model, .mode = "ss", .prompt = "naive"});
    }
    for (std::uint32_t t = 0; t < tasks; ++t) plan.tasks.push_back({"L1/" + std::to_string(t), "L1", "elementwise"});
    for (std::uint32_t c = 0; c < 2; ++c) {
      for (std::uint32_t t = 0; t < tasks; ++t) {
        order.push_back(static_cast<std::uint32_t>(plan.episodes.size()));
        plan.episodes.push_back({.cell = c, .task = t, .replicate = 1, .shard = 0});
        plan.keys.emplace_back("0123456789abcdef");
      }
    }
    ledger.states.resize(plan.episodes.size());
    ledger.ends.resize(plan.episodes.size());
  }
};

}  // namespace nkigrid::runner
