#include <memory>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/bench_changes.hpp"
#include "cli/bench_check.hpp"
#include "cli/bench_import.hpp"
#include "cli/bench_list.hpp"
#include "cli/bench_make.hpp"
#include "cli/bench_overlap.hpp"
#include "cli/bench_report.hpp"
#include "cli/benchmarks.hpp"
#include "cli/task_filter.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/grid/units.hpp"

namespace nkigrid::cli {
namespace {

/// What the parts of the verb share.
struct BenchOptions {
  std::string benchmark = "nkigen-bench", folder = ".", id, since, most_bytes;
  TaskFilter filter;
  AddedTask added;
  Import import;
  Overlap overlap;
  bool json = false;
};

using Options = std::shared_ptr<BenchOptions>;
using Chosen = std::shared_ptr<Action>;  ///< what the part that was named does

ExitCode list(const BenchOptions& options) {
  const auto benchmark = open_benchmark(options.benchmark);
  return list_tasks(benchmark, filtered(benchmark, options.filter), options.json);
}

ExitCode show(const BenchOptions& options) {
  const auto benchmark = open_benchmark(options.benchmark);
  return show_task(benchmark, task_of(benchmark, options.id), options.json);
}

ExitCode check(const BenchOptions& options) {
  const auto benchmark = open_benchmark(options.benchmark);
  auto tasks = filtered(benchmark, options.filter);
  if (!options.since.empty()) {
    const auto before = tasks.size();
    tasks = changed_since(options.since, benchmark, tasks);
    notice("{} of {} tasks changed since {}", tasks.size(), before, options.since);
  }
  const auto known = [&](const jobs::Task& task) { return benchmark.known_kernel(task.id); };
  return report_proofs(benchmark, prove_tasks(benchmark, tasks, known), options.json);
}

ExitCode import(const BenchOptions& options) {
  auto wanted = options.import;
  wanted.json = options.json;
  if (!options.most_bytes.empty()) {
    const auto bytes = jobs::parse_size_bytes(options.most_bytes);
    if (!bytes || *bytes == 0)
      throw Error(ErrorCode::usage,
                  fmt::format("--max-task-bytes is '{}' (a size is wanted, e.g. 256MiB)", options.most_bytes));
    wanted.max_task_bytes = *bytes;
  }
  return import_tree(wanted);
}

/// A part of the verb: its options, and what it does when it was the one that was named.
CLI::App* part(CLI::App& app, const char* name, const char* help, Action act, const Chosen& chosen) {
  auto* sub = app.add_subcommand(name, help);
  sub->callback([act = std::move(act), chosen] { *chosen = act; });
  return sub;
}

void name_benchmark(CLI::App& app, BenchOptions& options) {
  app.add_option("--benchmark", options.benchmark, "a folder, or a name under configs/")
      ->type_name("B")
      ->capture_default_str();
}

void add_json(CLI::App& app, BenchOptions& options) { app.add_flag("--json", options.json, "machine-readable"); }

void declare_reading(CLI::App& app, const Options& options, const Chosen& chosen) {
  auto* lists = part(
      app, "list", "one line a task", [options] { return list(*options); }, chosen);
  auto* shows = part(
      app, "show", "one task: what a model sees, and what people want to know", [options] { return show(*options); },
      chosen);
  shows->add_option("id", options->id, "task id, e.g. L1/001_add")->required()->type_name("ID");
  auto* checks = part(
      app, "check", "proves the index, the known kernels, and that cheap answers fail",
      [options] { return check(*options); }, chosen);
  checks->add_option("--since", options->since, "only tasks that changed since this git revision")->type_name("REV");
  for (auto* sub : {lists, shows, checks}) {
    name_benchmark(*sub, *options);
    add_json(*sub, *options);
  }
  for (auto* sub : {lists, checks}) add_filter(*sub, options->filter);
}

void declare_making(CLI::App& app, const Options& options, const Chosen& chosen) {
  auto* makes = part(
      app, "new", "writes a task and a kernel to start from",
      [options] {
        return new_task({options->id, options->folder});
      },
      chosen);
  makes->add_option("id", options->id, "task id, e.g. L1/my_task")->required()->type_name("ID");
  auto* adds = part(
      app, "add", "makes, checks and indexes one task",
      [options] {
        auto wanted = options->added;
        wanted.folder = options->folder;
        return add_task(wanted);
      },
      chosen);
  adds->add_option("file", options->added.file, "the task, a Python file in KernelBench form")
      ->required()
      ->type_name("FILE");
  adds->add_option("--id", options->added.id, "its id; default: from .../L1/name.py")->type_name("ID");
  adds->add_option("--kernel", options->added.kernel, "a kernel known to be right")->type_name("FILE");
  for (auto* sub : {makes, adds})
    sub->add_option("--benchmark", options->folder, "the benchmark's folder; made when absent")
        ->type_name("B")
        ->capture_default_str();
  auto* imports = part(
      app, "import", "writes a KernelBench or NKIBench tree as a folder of our own",
      [options] { return import(*options); }, chosen);
  imports->add_option("tree", options->import.tree, "the checkout")->required()->type_name("TREE");
  imports->add_option("-o", options->import.out, "the folder to write")->required()->type_name("FOLDER");
  imports->add_option("--format", options->import.format, "default: by what lies there")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(jobs::benchmark_format_names()));
  imports->add_option("--max-task-bytes", options->most_bytes, "larger tasks are refused; default 1GiB")
      ->type_name("SIZE");
  imports->add_flag("--shrink", options->import.shrink, "scale sizes down to what a simulator runs in a moment");
  add_json(*imports, *options);
}

void declare_overlap(CLI::App& app, const Options& options, const Chosen& chosen) {
  auto* overlaps = part(
      app, "overlap", "duplicates of tasks: exact, near, and by behaviour",
      [options] {
        auto wanted = options->overlap;
        wanted.json = options->json;
        return find_overlap(wanted);
      },
      chosen);
  overlaps->add_option("a", options->overlap.a, "a benchmark, or a folder of Python files")->required()->type_name("A");
  overlaps->add_option("b", options->overlap.b, "another; none: inside A")->type_name("B");
  want_number(overlaps->add_option("--near", options->overlap.near, "share of common 5-grams from which texts are near")
                  ->capture_default_str(),
              "SHARE");
  overlaps->add_flag("!--no-behaviour", options->overlap.behaviour, "compare texts only, run nothing");
  add_json(*overlaps, *options);
}

}  // namespace

Verb bench_verb() {
  return {"bench", "benchmarks: list, show and prove tasks, make and import them, find duplicates",
          [](CLI::App& app) -> Action {
            const auto options = std::make_shared<BenchOptions>();
            const auto chosen = std::make_shared<Action>();
            app.require_subcommand(1);
            declare_reading(app, options, chosen);
            declare_making(app, options, chosen);
            declare_overlap(app, options, chosen);
            return [chosen] {
              if (!*chosen) throw Error(ErrorCode::internal, "bench was parsed without a part");
              return (*chosen)();
            };
          }};
}

}  // namespace nkigrid::cli
