#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregate/evidence/scores.hpp"

namespace nkigrid::aggregate {

/// The tasks that several cells have, side by side.
struct SharedTasks {
  std::vector<std::vector<TaskCount>> counts;  ///< [cell][task], of tasks scored in every cell
  std::vector<std::uint32_t> ids;              ///< of those tasks, in Plan::tasks
  std::uint32_t tasks = 0;                     ///< shared, scored or not
  std::uint64_t outstanding = 0;               ///< episodes of shared tasks
};

/// Whether a comparison of them has a value: all their episodes are scored, or some where partial.
bool is_ready(const SharedTasks& shared, bool partial) noexcept;

/// Says which tasks are looked at; empty: all.
using TaskFilter = std::function<bool(const TaskScore&)>;

SharedTasks share_tasks(std::span<const CellScores* const> cells, const TaskFilter& wanted = {});

/// A scope of a contrast: "all", a level, or a category behind this word; and its name in a table, without it.
inline constexpr std::string_view kCategoryScope = "category:";
std::string scope_name(const std::string& scope);

/// The tasks of a scope.
TaskFilter in_scope(const jobs::Plan& plan, const std::string& scope);

/// True when every task has one replicate in every cell.
bool one_replicate(const SharedTasks& shared) noexcept;

}  // namespace nkigrid::aggregate
