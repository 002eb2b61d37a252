#include "jobs/forecast.hpp"

#include <algorithm>

namespace nkigrid::jobs {
namespace {

struct Tokens {
  double in = 0, out = 0;
};

/// One episode that takes all its turns: each request carries the whole conversation so far.
Tokens episode_tokens(const ModelSpec& model, const ModeSpec& mode, double first_tokens,
                      const TurnPrior& prior) {
  const double reply =
      model.max_tokens ? std::min<double>(prior.reply_tokens, *model.max_tokens) : prior.reply_tokens;
  const double turns = mode.turns;
  return {turns * first_tokens + (reply + prior.feedback_tokens) * turns * (turns - 1) / 2, turns * reply};
}

}  // namespace

std::vector<CellForecast> forecast(const Grid& grid, const Benchmark& benchmark, const Plan& plan,
                                   const TurnPrior& prior) {
  std::vector<CellForecast> forecasts;
  for (const auto& cell : plan.cells) {
    const auto& model = grid.model(cell.model);
    const auto& mode = grid.mode(cell.mode);
    const double prompt_bytes =
        static_cast<double>(grid.prompt(cell.prompt).text.size()) + prior.task_text_bytes;
    CellForecast sum;
    sum.cell = cell.id;
    for (const auto& id : cell.tasks) {
      const double first =
          (prompt_bytes + static_cast<double>(benchmark.find(id)->source.size())) / prior.bytes_per_token;
      const auto tokens = episode_tokens(model, mode, first, prior);
      sum.episodes += cell.replicates;
      sum.requests += std::uint64_t{cell.replicates} * mode.turns;
      sum.tokens_in += cell.replicates * tokens.in;
      sum.tokens_out += cell.replicates * tokens.out;
    }
    if (model.price)
      sum.usd = (sum.tokens_in * model.price->input_usd + sum.tokens_out * model.price->output_usd) / 1e6;
    forecasts.push_back(std::move(sum));
  }
  return forecasts;
}

}  // namespace nkigrid::jobs
