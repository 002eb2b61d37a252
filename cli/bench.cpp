#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/bench_check.hpp"
#include "cli/benchmarks.hpp"
#include "cli/json_text.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"
#include "jobs/grid/grid.hpp"

namespace nkigrid::cli {
namespace {

using nlohmann::ordered_json;

struct BenchOptions {
  std::string benchmark = "nkigen-bench", subset, task;
  bool json = false;
};

std::vector<const jobs::Task*> tasks_of(const jobs::Benchmark& benchmark, const std::string& subset) {
  std::vector<const jobs::Task*> tasks;
  if (subset.empty()) {
    for (const auto& task : benchmark.tasks) tasks.push_back(&task);
    return tasks;
  }
  const auto at = benchmark.subsets.find(subset);
  if (at == benchmark.subsets.end()) {
    std::vector<std::string> names;
    for (const auto& [name, ids] : benchmark.subsets) names.push_back(name);
    throw Error(ErrorCode::usage, fmt::format("no subset '{}' in benchmark {}{}; it has {}", subset, benchmark.name,
                                              did_you_mean(subset, names), fmt::join(names, ", ")));
  }
  for (const auto& id : at->second) tasks.push_back(benchmark.find(id));
  return tasks;
}

std::string shape_text(const jobs::TensorSpec& tensor) {
  return fmt::format("[{}] {}", fmt::join(tensor.shape, ","), tensor.dtype);
}

ordered_json tensor_json(const jobs::TensorSpec& tensor) {
  ordered_json out = {{"name", tensor.name}, {"shape", tensor.shape}, {"dtype", tensor.dtype}, {"role", tensor.role}};
  if (tensor.role != "output") out["domain"] = tensor.domain;
  if (tensor.domain == "index") out["bound"] = tensor.index_bound;
  return out;
}

ordered_json task_json(const jobs::Benchmark& benchmark, const jobs::Task& task) {
  ordered_json out = {{"id", task.id}, {"level", task.level}, {"category", task.category}, {"hash", task.hash}};
  out["inputs"] = out["outputs"] = out["constants"] = ordered_json::array();
  for (const auto& tensor : task.inputs) out["inputs"].push_back(tensor_json(tensor));
  for (const auto& tensor : task.outputs) out["outputs"].push_back(tensor_json(tensor));
  for (const auto& constant : task.constants)
    out["constants"].push_back({{"name", constant.name}, {"value", constant.value}});
  out["known_kernel"] = !benchmark.known_kernel(task.id).empty();
  return out;
}

ExitCode list(const BenchOptions& options) {
  const auto benchmark = open_benchmark(options.benchmark);
  const auto tasks = tasks_of(benchmark, options.subset);
  if (options.json) {
    ordered_json out = {{"version", 1}, {"benchmark", benchmark.name}, {"tasks", ordered_json::array()}};
    for (const auto* task : tasks) out["tasks"].push_back(task_json(benchmark, *task));
    out["subsets"] = benchmark.subsets;
    fmt::print("{}", json_text(out));
    return ExitCode::done;
  }
  for (const auto* task : tasks) {
    std::vector<std::string> inputs;
    for (const auto& tensor : task->inputs) inputs.push_back(shape_text(tensor));
    say("{:<32}  {:<20}  {}\n", task->id, task->category, fmt::join(inputs, "  "));
  }
  std::vector<std::string> subsets;
  for (const auto& [name, ids] : benchmark.subsets) subsets.push_back(fmt::format("{} ({})", name, ids.size()));
  // Not among the tasks, which a script takes line by line.
  notice("{}: {} tasks; subsets: {}", benchmark.name, tasks.size(), fmt::join(subsets, ", "));
  return ExitCode::done;
}

void print_tensors(const char* title, const std::vector<jobs::TensorSpec>& tensors) {
  say("{}\n", title);
  for (const auto& tensor : tensors) {
    std::string note = tensor.role;
    if (tensor.role != "output") note += ", " + tensor.domain;
    if (tensor.domain == "index") note += fmt::format(" below {}", tensor.index_bound);
    say("  {} {}  ({})\n", tensor.name.empty() ? "-" : tensor.name, shape_text(tensor), note);
  }
}

ExitCode show(const BenchOptions& options) {
  const auto benchmark = open_benchmark(options.benchmark);
  const auto* task = &task_of(benchmark, options.task);
  if (options.json) {
    auto out = task_json(benchmark, *task);
    out["version"] = 1;
    out["source"] = task->source;
    fmt::print("{}", json_text(out));
    return ExitCode::done;
  }
  say("Task: {}  ({}, {})\n", task->id, task->level, task->category);
  print_tensors("Inputs: the kernel's positional arguments, in this order", task->inputs);
  print_tensors("Outputs: what the kernel returns, each element written", task->outputs);
  if (!task->constants.empty()) say("Constants: not passed, the kernel spells them out\n");
  for (const auto& constant : task->constants) say("  {} = {}\n", constant.name, constant.value);
  say("Known kernel: {}\nHash: {}\n\n{}", benchmark.known_kernel(task->id).empty() ? "none" : "yes", task->hash,
      task->source);
  return ExitCode::done;
}

CLI::App* part(CLI::App& app, const char* name, const char* help, BenchOptions& options) {
  auto* sub = app.add_subcommand(name, help);
  sub->add_option("--benchmark", options.benchmark, "a folder, or a name under configs/")
      ->type_name("B")
      ->capture_default_str();
  return sub;
}

}  // namespace

Verb bench_verb() {
  return {"bench", "the benchmark: list its tasks, show one, prove it", [](CLI::App& app) -> Action {
            auto options = std::make_shared<BenchOptions>();
            app.require_subcommand(1);
            auto* lists = part(app, "list", "one line a task", *options);
            lists->add_option("--subset", options->subset, "only this subset")->type_name("S");
            lists->add_flag("--json", options->json, "machine-readable");
            auto* shows = part(app, "show", "one task: source, inputs, outputs, constants", *options);
            shows->add_option("id", options->task, "task id, e.g. L1/001_add")->required()->type_name("ID");
            shows->add_flag("--json", options->json, "machine-readable");
            auto* checks =
                part(app, "check", "proves the index, the known kernels, and that trivial answers fail", *options);
            return [options, lists, shows, checks] {
              if (lists->parsed()) return list(*options);
              if (shows->parsed()) return show(*options);
              if (checks->parsed()) return bench_check(open_benchmark(options->benchmark));
              throw Error(ErrorCode::internal, "bench was parsed without a part");
            };
          }};
}

}  // namespace nkigrid::cli
