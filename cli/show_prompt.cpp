#include "cli/show_prompt.hpp"

#include <utility>

#include <fmt/core.h>

#include "cli/grids.hpp"
#include "cli/set_option.hpp"
#include "cli/transcript.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/text.hpp"
#include "jobs/plan.hpp"
#include "jobs/run_directory.hpp"
#include "runner/agent/modes.hpp"
#include "runner/agent/task_message.hpp"
#include "runner/model/wire/wire.hpp"

namespace nkigrid::cli {
namespace {

struct Source {
  jobs::Grid grid;
  jobs::Benchmark benchmark;
};

Source open_source(const std::string& path, const std::vector<std::string>& sets) {
  if (jobs::is_run(path)) {
    refuse_sets_of_run(sets, path);
    jobs::Run run = jobs::load_run(path);
    return {std::move(run.grid), std::move(run.benchmark)};
  }
  jobs::Grid grid = open_grid(path, sets);
  jobs::Benchmark benchmark = benchmark_of(grid);
  return {std::move(grid), std::move(benchmark)};
}

const jobs::CellSpec& find_cell(const jobs::Grid& grid, const std::string& wanted) {
  std::vector<std::string> ids;
  for (const auto& cell : grid.cells) {
    if (wanted.empty() || cell.id == wanted) return cell;
    ids.push_back(cell.id);
  }
  throw Error(ErrorCode::usage, fmt::format("no cell '{}' in this grid{}", wanted, did_you_mean(wanted, ids)));
}

const jobs::Task& find_task(const jobs::Benchmark& benchmark, const std::string& wanted) {
  if (const auto* task = benchmark.find(wanted)) return *task;
  std::vector<std::string> ids;
  for (const auto& known : benchmark.tasks) ids.push_back(known.id);
  throw Error(ErrorCode::usage,
              fmt::format("no task '{}' in benchmark '{}'{}", wanted, benchmark.name, did_you_mean(wanted, ids)));
}

/// CELL/TASK, or TASK with --cell: a cell's name has dots and no slash, and no task's first part has a dot.
struct CellAndTask {
  std::string cell, task;
};

CellAndTask names_of(const PromptRequest& wanted) {
  const auto slash = wanted.task.find('/');
  const auto first = wanted.task.substr(0, slash);
  if (slash == std::string::npos || first.find('.') == std::string::npos) return {wanted.cell, wanted.task};
  if (!wanted.cell.empty() && wanted.cell != first)
    throw Error(ErrorCode::usage,
                fmt::format("--cell '{}' and --prompt '{}' name two cells; name one", wanted.cell, wanted.task));
  return {first, wanted.task.substr(slash + 1)};
}

/// The request's body as it would go over the wire. @throws Error{usage} for a model without an endpoint
std::string request_text(const jobs::ModelSpec& model, model::ChatRequest chat) {
  if (!has_endpoint(model.api))
    throw Error(ErrorCode::usage,
                fmt::format("model '{}' has no endpoint, so nothing is sent; leave --request away", model.name));
  return model::request_body(chat, model) + "\n";
}

}  // namespace

ExitCode show_prompt(const PromptRequest& wanted) {
  const Source source = open_source(wanted.source, wanted.sets);
  const auto names = names_of(wanted);
  const jobs::CellSpec& cell = find_cell(source.grid, names.cell);
  const jobs::Task& task = find_task(source.benchmark, names.task);
  const jobs::ModeSpec& mode = source.grid.mode(cell.mode);
  const auto messages = agent::first_messages(task, source.grid.prompt(cell.prompt), mode);
  const auto tools = agent::tools_of(mode);
  if (wanted.request) {
    const auto seed = sampling_seed(source.grid.seed, cell.id, task.id, 1);
    fmt::print("{}", request_text(source.grid.model(cell.model), {.messages = messages, .tools = tools, .seed = seed}));
    return ExitCode::done;
  }
  fmt::print("{}", render_prompt(messages, tools, wanted.json));
  return ExitCode::done;
}

}  // namespace nkigrid::cli
