#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/evidence/evidence.hpp"
#include "aggregate/evidence/shared_tasks.hpp"
#include "aggregate/statistics/checkpoints.hpp"

namespace nkigrid::aggregate {

/// The cells of one method (models.X.method) in one mode and prompt: a cell a checkpoint.
struct Method {
  std::string name, context;
  const jobs::CellSpec* spec = nullptr;  ///< the first one's
  std::vector<const CellScores*> cells;
};

/// Models that name one `method` are its checkpoints; a model without one is a method of one checkpoint under its own
/// name. Empty when no model names a method. @pre evidence of a run
std::vector<Method> methods_of(const Evidence& evidence);

/// Scores of the shared tasks, checkpoint by checkpoint.
CheckpointScores checkpoint_scores(std::span<const std::vector<TaskCount>> cells);

/// Several checkpoints of one method, in one mode and prompt.
struct MethodRow {
  std::string method, mode, prompt;
  std::vector<std::string> cells;  ///< one a checkpoint
  std::uint32_t tasks = 0;         ///< that all of them have
  std::uint64_t outstanding = 0;
  std::optional<double> rate, between_checkpoints;  ///< standard deviation of the checkpoints' rates
  std::optional<Interval> interval;
};

/// One row a method, mode and prompt, over the tasks that all its checkpoints have.
std::vector<MethodRow> make_methods(const Evidence& evidence);

/// Why there is none; pairs of methods have none then either.
inline constexpr const char* kNoMethods =
    "no model has a `method`; give the checkpoints of one method the same name, e.g. `grpo-1: {..., method: grpo}` and "
    "`grpo-2: {..., method: grpo}`";

}  // namespace nkigrid::aggregate
