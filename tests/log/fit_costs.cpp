// Fits the costs of lines "model mode cell level task log_ratio" on stdin and prints the model as it is frozen: the
// other side of test_costs.py.
#include <iostream>
#include <map>

#include "runner/log/costs.hpp"

int main() {
  using namespace nkigrid;
  log::CostHistory history;
  std::map<std::string, std::uint32_t> cells, tasks;
  std::string model, mode, cell, level, task;
  double ratio = 0;
  while (std::cin >> model >> mode >> cell >> level >> task >> ratio) {
    const auto [c, new_cell] = cells.try_emplace(cell, static_cast<std::uint32_t>(cells.size()));
    if (new_cell) history.cells.push_back({cell, model, mode});
    const auto [t, new_task] = tasks.try_emplace(task, static_cast<std::uint32_t>(tasks.size()));
    if (new_task) history.tasks.push_back({task, level});
    history.observations.push_back({c->second, t->second, ratio, ratio, ratio});
  }
  std::cout << jobs::to_json(log::fit_costs(history, {}));
}
