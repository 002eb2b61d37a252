#include "aggregate/tables.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "aggregate/counts.hpp"
#include "aggregate/render.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::cli {
namespace {

struct Options {
  std::vector<std::string> runs;
  std::string counts, table, subset, rule = "paper", format = "text";
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
  const auto source = options.counts.empty() ? aggregate::Source::run : aggregate::Source::counts;
  request.names = options.table.empty() ? aggregate::default_tables(request.format, source)
                                        : aggregate::parse_table_name(options.table, source);
  if (csv && request.names.size() != 1) {
    throw Error(ErrorCode::usage, "csv holds one table at a time ('all' are several); name one with --table");
  }
  request.tables.rule = aggregate::parse_rule(options.rule);
  if (!options.subset.empty()) request.tables.subset = options.subset;
  request.tables.partial = options.partial;
  return request;
}

void print_tables(const aggregate::Tables& tables, const Request& request, bool quiet) {
  fmt::print("{}", aggregate::render(tables, request.names, request.format));
  if (std::fflush(stdout) != 0)
    throw Error(ErrorCode::io,
                "cannot write the tables to standard output; look at the disk or the pipe behind it");
  if (quiet || request.format != aggregate::Format::csv) return;
  for (const auto& warning : tables.warnings)
    fmt::print(stderr, "nkigrid: warning: {}\n", warning);  // a csv file has no place for them
}

int tables_of_run(const std::string& folder, const Request& request, bool quiet, bool write) {
  const auto run = jobs::load_run(folder);
  if (write) aggregate::write_tables(run, run.folder / "tables");
  const auto ledger = log::read_ledger(run);
  const auto tables = aggregate::make_tables(run, ledger, request.tables);
  print_tables(tables, request, quiet);
  for (const auto& damage : quiet ? std::vector<std::string>{} : ledger.warnings)
    fmt::print(stderr, "nkigrid: {}\n", damage);
  if (tables.outstanding == 0) return 0;
  fmt::print(stderr, "nkigrid: {} episodes are outstanding; `nkigrid resume {}` continues them\n",
             tables.outstanding, folder);
  return 1;
}

int tables(const Options& options) {
  const auto request = read_request(options);
  if (options.runs.empty() == options.counts.empty())
    throw Error(ErrorCode::usage, "tables wants a RUN or --counts FILE, and not both");
  if (!options.counts.empty()) {
    if (options.rule != "paper" || !options.subset.empty())
      throw Error(ErrorCode::usage,
                  "--rule and --subset need a RUN (printed counts are of one rule, and name their subsets); "
                  "leave them out");
    print_tables(aggregate::make_count_tables(aggregate::read_counts(options.counts)), request,
                 options.quiet);
    return 0;
  }
  if (options.runs.size() > 1) {
    throw Error(
        ErrorCode::usage,
        fmt::format("cannot put {} runs in one table (merging runs is not in this version); give one RUN",
                    options.runs.size()));
  }
  return tables_of_run(options.runs.front(), request, options.quiet, options.write);
}

}  // namespace

Verb tables_verb() {
  return {"tables", "prints a run's tables, with intervals", [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("run", options->runs, "a frozen run")->type_name("RUN");
            app.add_option("--counts", options->counts,
                           "printed counts in place of a run (docs/formats/counts.md)")
                ->type_name("FILE");
            app.add_option("--table", options->table, aggregate::table_names_help())->type_name("NAME");
            app.add_option("--subset", options->subset, "only the tasks of this subset")->type_name("S");
            app.add_option("--rule", options->rule,
                           "which verdict counts: paper, strict, best (of the best kernel)")
                ->type_name("RULE")
                ->capture_default_str();
            app.add_option("--format", options->format, aggregate::format_names_help())
                ->type_name("FORMAT")
                ->capture_default_str();
            app.add_flag("--json", options->json, "the same as --format json");
            app.add_flag("--partial", options->partial,
                         "with episodes outstanding, prints the rate over the scored ones");
            app.add_flag("--write", options->write,
                         "also writes RUN/tables, as `run` does (the aggregation job calls this)");
            app.add_flag("-q,--quiet", options->quiet, "no diagnostics but the cause of a failure");
            return [options] { return tables(*options); };
          }};
}

}  // namespace nkigrid::cli
