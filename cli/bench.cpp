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

/// One part of the verb does one thing with them.
using Part = ExitCode (*)(const BenchOptions&);

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

ExitCode make(const BenchOptions& options) { return new_task({options.id, options.folder}); }

ExitCode add(const BenchOptions& options) {
  auto wanted = options.added;
  wanted.folder = options.folder;
  return add_task(wanted);
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

ExitCode overlap(const BenchOptions& options) {
  auto wanted = options.overlap;
  wanted.json = options.json;
  return find_overlap(wanted);
}

/// The verb while its options are declared.
struct Declaration {
  CLI::App& app;
  std::shared_ptr<BenchOptions> options = std::make_shared<BenchOptions>();
  std::shared_ptr<Part> chosen = std::make_shared<Part>(nullptr);  ///< the part that was named

  CLI::App* part(const char* name, const char* help, Part act) const {
    auto* sub = app.add_subcommand(name, help);
    sub->callback([act, chosen = chosen] { *chosen = act; });
    return sub;
  }
};

void add_benchmark(CLI::App* sub, std::string& benchmark, const char* help) {
  sub->add_option("--benchmark", benchmark, help)->type_name("B")->capture_default_str();
}

void add_id(CLI::App* sub, std::string& id, const char* help) {
  sub->add_option("id", id, help)->required()->type_name("ID");
}

void declare_reading(const Declaration& verb) {
  auto& options = *verb.options;
  auto* lists = verb.part("list", "one line a task", list);
  auto* shows = verb.part("show", "one task: what a model sees, and what people want to know", show);
  auto* checks = verb.part("check", "proves the index, the known kernels, and that cheap answers fail", check);
  add_id(shows, options.id, "task id, e.g. L1/001_add");
  checks->add_option("--since", options.since, "only tasks that changed since this git revision")->type_name("REV");
  for (auto* sub : {lists, shows, checks}) add_benchmark(sub, options.benchmark, "a folder, or a name under configs/");
  for (auto* sub : {lists, checks}) add_filter(*sub, options.filter);
}

void declare_making(const Declaration& verb) {
  auto& options = *verb.options;
  auto* makes = verb.part("new", "writes a task and a kernel to start from", make);
  auto* adds = verb.part("add", "makes, checks and indexes one task", add);
  add_id(makes, options.id, "task id, e.g. L1/my_task");
  adds->add_option("file", options.added.file, "the task, a Python file in KernelBench form")
      ->required()
      ->type_name("FILE");
  adds->add_option("--id", options.added.id, "its id; default: from .../L1/name.py")->type_name("ID");
  adds->add_option("--kernel", options.added.kernel, "a kernel known to be right")->type_name("FILE");
  for (auto* sub : {makes, adds}) add_benchmark(sub, options.folder, "the benchmark's folder; made when absent");
}

void declare_import(const Declaration& verb) {
  auto& options = *verb.options;
  auto* imports = verb.part("import", "writes a KernelBench or NKIBench tree as a folder of our own", import);
  imports->add_option("tree", options.import.tree, "the checkout")->required()->type_name("TREE");
  imports->add_option("-o", options.import.out, "the folder to write")->required()->type_name("FOLDER");
  imports->add_option("--format", options.import.format, "default: by what lies there")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(jobs::benchmark_format_names()));
  imports->add_option("--max-task-bytes", options.most_bytes, "larger tasks are refused; default 1GiB")
      ->type_name("SIZE");
  imports->add_flag("--shrink", options.import.shrink, "scale sizes down to what a simulator runs in a moment");
}

void declare_overlap(const Declaration& verb) {
  auto& wanted = verb.options->overlap;
  auto* overlaps = verb.part("overlap", "duplicates of tasks: exact, near, and by behaviour", overlap);
  overlaps->add_option("a", wanted.a, "a benchmark, or a folder of Python files")->required()->type_name("A");
  overlaps->add_option("b", wanted.b, "another; none: inside A")->type_name("B");
  want_number(overlaps->add_option("--near", wanted.near, "share of common 5-grams from which texts are near")
                  ->capture_default_str(),
              "SHARE");
  overlaps->add_flag("!--no-behaviour", wanted.behaviour, "compare texts only, run nothing");
}

void declare_json(const Declaration& verb) {
  for (const auto* name : {"list", "show", "check", "import", "overlap"})
    verb.app.get_subcommand(name)->add_flag("--json", verb.options->json, "machine-readable");
}

}  // namespace

Verb bench_verb() {
  return {"bench", "benchmarks: list, show and prove tasks, make and import them, find duplicates",
          [](CLI::App& app) -> Action {
            const Declaration verb{app};
            app.require_subcommand(1);
            declare_reading(verb);
            declare_making(verb);
            declare_import(verb);
            declare_overlap(verb);
            declare_json(verb);
            return [options = verb.options, chosen = verb.chosen] {
              if (*chosen == nullptr) throw Error(ErrorCode::internal, "bench was parsed without a part");
              return (*chosen)(*options);
            };
          }};
}

}  // namespace nkigrid::cli
