#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "aggregate/render.hpp"
#include "aggregate/tables.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::cli {
namespace {

struct Options {
  std::vector<std::string> runs;
  std::string table, subset, rule = "paper", format = "text";
  bool partial = false, json = false, quiet = false, write = false;
};

/// Everything that can be refused without reading a run.
struct Request {
  std::vector<aggregate::TableName> names;
  aggregate::Format format;
  aggregate::TableOptions tables;
};

Request read_request(const Options& options) {
  Request request;
  request.format = aggregate::parse_format(options.json ? "json" : options.format);
  const bool csv = request.format == aggregate::Format::csv;
  request.names = options.table.empty() ? aggregate::default_tables(request.format) : aggregate::parse_table_name(options.table);
  if (csv && request.names.size() != 1) {
    throw Error(ErrorCode::usage, "csv holds one table at a time ('all' are several); name one with --table");
  }
  request.tables.rule = aggregate::parse_rule(options.rule);
  if (!options.subset.empty()) request.tables.subset = options.subset;
  request.tables.partial = options.partial;
  return request;
}

int tables(const Options& options) {
  const auto request = read_request(options);
  if (options.runs.size() > 1) {
    throw Error(ErrorCode::usage, fmt::format("cannot put {} runs in one table (merging runs is not in this version); give one RUN", options.runs.size()));
  }
  const auto run = jobs::load_run(options.runs.front());
  if (options.write) aggregate::write_tables(run, run.folder / "tables");
  const auto ledger = log::fold_log(run.plan, run.grid.infra_retries, run.log_folder(), true);
  const auto tables = aggregate::make_tables(run, ledger, request.tables);
  fmt::print("{}", aggregate::render(tables, request.names, request.format));
  if (std::fflush(stdout) != 0) throw Error(ErrorCode::io, "cannot write the tables to standard output; look at the disk or the pipe behind it");
  if (!options.quiet) {
    // A csv file has no place for them.
    for (const auto& warning : request.format == aggregate::Format::csv ? tables.warnings : std::vector<std::string>{}) {
      fmt::print(stderr, "nkigrid: warning: {}\n", warning);
    }
    for (const auto& damage : ledger.warnings) fmt::print(stderr, "nkigrid: {}\n", damage);
  }
  if (tables.outstanding == 0) return 0;
  fmt::print(stderr, "nkigrid: {} episodes are outstanding; `nkigrid resume {}` continues them\n", tables.outstanding, options.runs.front());
  return 1;
}

}  // namespace

Verb tables_verb() {
  return {"tables", "prints a run's tables, with intervals", [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("run", options->runs, "a frozen run")->required()->type_name("RUN");
            app.add_option("--table", options->table, aggregate::table_names_help())->type_name("NAME");
            app.add_option("--subset", options->subset, "only the tasks of this subset")->type_name("S");
            app.add_option("--rule", options->rule, "which verdict counts: paper, strict, best (of the best kernel)")->type_name("RULE")->capture_default_str();
            app.add_option("--format", options->format, aggregate::format_names_help())->type_name("FORMAT")->capture_default_str();
            app.add_flag("--json", options->json, "the same as --format json");
            app.add_flag("--partial", options->partial, "with episodes outstanding, prints the rate over the scored ones");
            app.add_flag("--write", options->write, "also writes RUN/tables, as `run` does (the aggregation job calls this)");
            app.add_flag("-q,--quiet", options->quiet, "no diagnostics but the cause of a failure");
            return [options] { return tables(*options); };
          }};
}

}  // namespace nkigrid::cli
