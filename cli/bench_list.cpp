#include "cli/bench_list.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/json_text.hpp"
#include "cli/task_filter.hpp"
#include "jobs/base/notice.hpp"

namespace nkigrid::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLeastIdWidth = 32;  ///< most ids fit, so lists of parts of a benchmark look alike

std::string shape_text(const jobs::TensorSpec& tensor) {
  return fmt::format("[{}] {}", fmt::join(tensor.shape, ","), tensor.dtype);
}

ordered_json tensor_json(const jobs::TensorSpec& tensor) {
  ordered_json out = {{"name", tensor.name}, {"shape", tensor.shape}, {"dtype", tensor.dtype}, {"role", tensor.role}};
  if (tensor.role != "output") out["domain"] = tensor.domain;
  if (tensor.domain == "index") out["bound"] = tensor.index_bound;
  return out;
}

ordered_json about_json(const jobs::TaskAbout& about) {
  ordered_json out = {{"title", about.title}, {"origin", about.origin}, {"tags", about.tags}};
  out["flops"] = about.flops;
  out["hbm_bytes"] = about.hbm_bytes;
  out["roofline_us"] = about.roofline_us;
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
  out["rank"] = jobs::rank_of(task);
  if (const auto at = benchmark.about.find(task.id); at != benchmark.about.end()) out["about"] = about_json(at->second);
  return out;
}

ExitCode list_json(const jobs::Benchmark& benchmark, const std::vector<const jobs::Task*>& tasks) {
  ordered_json out = {{"version", 1}, {"benchmark", benchmark.name}, {"tasks", ordered_json::array()}};
  for (const auto* task : tasks) out["tasks"].push_back(task_json(benchmark, *task));
  out["subsets"] = benchmark.subsets;
  out["refused"] = ordered_json::array();
  for (const auto& refused : benchmark.refused) out["refused"].push_back({{"id", refused.id}, {"why", refused.why}});
  fmt::print("{}", json_text(out));
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

void print_about(const jobs::TaskAbout& about) {
  say("{}\n", about.title);
  if (!about.tags.empty()) say("Tags: {}\n", fmt::join(about.tags, ", "));
  say("Work: {:.3g} FLOPs, {:.3g} bytes through HBM; no kernel is expected under {:.3g} us\n", about.flops,
      about.hbm_bytes, about.roofline_us);
}

}  // namespace

std::size_t id_width(std::span<const std::string> ids) {
  std::size_t width = kLeastIdWidth;
  for (const auto& id : ids) width = std::max(width, id.size());
  return width;
}

void print_refused(const std::vector<jobs::RefusedTask>& refused) {
  std::vector<std::string> ids;
  for (const auto& task : refused) ids.push_back(task.id);
  const auto width = id_width(ids);
  for (const auto& task : refused) say("{:<{}}  refused: {}\n", task.id, width, task.why);
}

ExitCode list_tasks(const jobs::Benchmark& benchmark, const std::vector<const jobs::Task*>& tasks, bool json) {
  if (json) return list_json(benchmark, tasks);
  std::vector<std::string> ids;
  std::size_t category = 0;  // the longest's width
  for (const auto* task : tasks) {
    ids.push_back(task->id);
    category = std::max(category, task->category.size());
  }
  const auto width = id_width(ids);
  for (const auto* task : tasks) {
    std::vector<std::string> inputs;
    for (const auto& tensor : task->inputs) inputs.push_back(shape_text(tensor));
    say("{:<{}}  {:<{}}  {}\n", task->id, width, task->category, category, fmt::join(inputs, "  "));
  }
  print_refused(benchmark.refused);
  std::vector<std::string> subsets;
  for (const auto& [name, ids] : benchmark.subsets) subsets.push_back(fmt::format("{} ({})", name, ids.size()));
  // Not among the tasks, which a script takes line by line.
  notice("{}: {} tasks; subsets: {}", benchmark.name, tasks.size(), fmt::join(subsets, ", "));
  if (!benchmark.refused.empty()) notice("{} more cannot be posed", benchmark.refused.size());
  return ExitCode::done;
}

ExitCode show_task(const jobs::Benchmark& benchmark, const jobs::Task& task, bool json) {
  if (json) {
    auto out = task_json(benchmark, task);
    out["version"] = 1;
    out["source"] = task.source;
    fmt::print("{}", json_text(out));
    return ExitCode::done;
  }
  say("Task: {}  ({}, {})\n", task.id, task.level, task.category);
  if (const auto at = benchmark.about.find(task.id); at != benchmark.about.end()) print_about(at->second);
  print_tensors("Inputs: the kernel's positional arguments, in this order", task.inputs);
  print_tensors("Outputs: what the kernel returns, each element written", task.outputs);
  if (!task.constants.empty()) say("Constants: not passed, the kernel spells them out\n");
  for (const auto& constant : task.constants) say("  {} = {}\n", constant.name, constant.value);
  say("Known kernel: {}\nHash: {}\n\n{}", benchmark.known_kernel(task.id).empty() ? "none" : "yes", task.hash,
      task.source);
  return ExitCode::done;
}

}  // namespace nkigrid::cli
