#include "jobs/forecast/forecast.hpp"

#include <algorithm>

namespace nkigrid::jobs {

double reply_tokens(const ModelSpec& model, const TurnPrior& prior) {
  return model.max_tokens ? std::min<double>(prior.reply_tokens, *model.max_tokens) : prior.reply_tokens;
}

Tokens most_tokens(const ModelSpec& model, const ModeSpec& mode, const PromptSpec& prompt, const Task& task,
                   const TurnPrior& prior) {
  const double first =
      (static_cast<double>(text_for(prompt, task).size() + task.source.size()) + prior.task_text_bytes) /
      prior.bytes_per_token;
  const double reply = reply_tokens(model, prior);
  const double turns = mode.turns;
  return {turns * first + (reply + prior.feedback_tokens) * turns * (turns - 1) / 2, turns * reply};
}

std::vector<CellForecast> forecast(const Grid& grid, const Benchmark& benchmark, const Plan& plan,
                                   const TurnPrior& prior) {
  std::vector<CellForecast> forecasts;
  for (const auto& cell : plan.cells) {
    const auto& model = grid.model(cell.model);
    const auto& mode = grid.mode(cell.mode);
    const auto& prompt = grid.prompt(cell.prompt);
    CellForecast sum;
    sum.cell = cell.id;
    for (const auto& id : cell.tasks) {
      const auto tokens = most_tokens(model, mode, prompt, *benchmark.find(id), prior);
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
