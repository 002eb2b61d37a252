#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/plan.hpp"

namespace nkigrid::jobs {

/// What a turn costs before anything was measured. The figures are ours, a guess to be replaced by fitted
/// costs of past runs.
struct TurnPrior {
  double bytes_per_token = 3.5;  ///< English and Python in common tokenizers
  double reply_tokens =
      1500;  ///< a kernel of about 100 lines with a few words around it; a smaller max_tokens lowers it
  double feedback_tokens = 300;   ///< a tool's answer or a compiler's text
  double task_text_bytes = 1200;  ///< the harness's own words in the first user message, beside the task's source
};

struct Tokens {
  double in = 0, out = 0;
};

double reply_tokens(const ModelSpec& model, const TurnPrior& prior = {});

/// One episode that takes all its turns: each request carries the whole conversation so far.
Tokens most_tokens(const ModelSpec& model, const ModeSpec& mode, const PromptSpec& prompt, const Task& task,
                   const TurnPrior& prior = {});

/// What a cell can cost at most: every episode takes all of its mode's turns, the context grows by a reply
/// and its feedback each.
struct CellForecast {
  std::string cell;
  std::uint64_t episodes = 0;
  std::uint64_t requests = 0;  ///< at most; nudges are turns and retries are none
  double tokens_in = 0;        ///< at most, by the prior
  double tokens_out = 0;
  std::optional<double> usd;  ///< where the model has a price
};

std::vector<CellForecast> forecast(const Grid& grid, const Benchmark& benchmark, const Plan& plan,
                                   const TurnPrior& prior = {});

}  // namespace nkigrid::jobs
