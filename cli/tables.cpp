#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/tables/document.hpp"
#include "aggregate/tables/warnings.hpp"
#include "aggregate/tables/write.hpp"
#include "cli/chosen_options.hpp"
#include "cli/episode_list.hpp"
#include "cli/explain.hpp"
#include "cli/terminal.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::cli {
namespace {

struct TablesOptions {
  std::vector<std::string> runs, tables;
  std::string counts, subset, rule = "paper", format = "text", adjust = "holm", interval = "auto", by = "contrast",
                              test = "mid-p", relative_to, against;
  bool partial = false, json = false, quiet = false, write = false, rows = false, explain = false;
  exports::Chosen chosen;  ///< of the episodes that --rows lists
};

/// Everything that can be refused without reading a run.
struct Request {
  aggregate::TableList tables;
  aggregate::Format format;
  aggregate::TableOptions options;
};

std::size_t read_choice(const char* option, const std::string& text, const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) {
    throw Error(ErrorCode::usage, fmt::format("unknown word '{}' of {}{}; choose one of: {}", text, option,
                                              did_you_mean(text, words), fmt::join(words, ", ")));
  }
  return static_cast<std::size_t>(found - words.begin());
}

aggregate::TableOptions read_options(const TablesOptions& options) {
  aggregate::TableOptions read;
  read.rule = aggregate::parse_rule(options.rule);
  if (!options.subset.empty()) read.subset = options.subset;
  read.partial = options.partial;
  read.adjust = static_cast<aggregate::Adjust>(read_choice("--adjust", options.adjust, {"holm", "bh"}));
  read.intervals =
      static_cast<aggregate::RateIntervals>(read_choice("--interval", options.interval, {"auto", "clopper-pearson"}));
  read.by = static_cast<aggregate::ScopesBy>(read_choice("--by", options.by, {"contrast", "level", "category"}));
  read.test = static_cast<aggregate::PValue>(read_choice("--test", options.test, {"mid-p", "exact"}));
  read.against = options.against;
  if (!options.relative_to.empty()) read.relative_to = options.relative_to;
  return read;
}

Request read_request(const TablesOptions& options) {
  const auto from = options.counts.empty() ? aggregate::From::runs : aggregate::From::counts;
  const auto format = aggregate::parse_format(options.json ? "json" : options.format);
  return {aggregate::parse_tables(options.tables, format, from), format, read_options(options)};
}

void print(const aggregate::Evidence& evidence, const Request& request, bool quiet) {
  aggregate::check_options(evidence);
  fmt::print("{}", aggregate::print_tables(evidence, request.tables, request.format, terminal_columns(STDOUT_FILENO)));
  if (std::fflush(stdout) != 0)
    throw Error(ErrorCode::io, "cannot write the tables to standard output; look at the disk or the pipe behind it");
  if (quiet || request.format != aggregate::Format::csv) return;
  // A csv file has no place for what is no row.
  const auto& table = *request.tables.front();
  if (const auto why = aggregate::why_no_rows(evidence, table); !why.empty())
    notice("{}: nothing to show: {}", table.name, why);
  for (const auto& warning : evidence.once(aggregate::make_warnings)) warn("{}", warning);
}

// Says what is outstanding and what was damaged, on stderr. @returns the exit code
ExitCode conclude(const aggregate::Evidence& evidence, const TablesOptions& options) {
  for (const auto& line : options.quiet ? std::vector<std::string>{} : evidence.ledger->warnings) notice("{}", line);
  if (evidence.outstanding == 0) return ExitCode::done;
  // Only a run that was submitted goes on by a submit.
  const bool here =
      options.runs.size() == 1 && !std::filesystem::exists(std::filesystem::path(options.runs.front()) / "jobs.json");
  notice("{} episodes are outstanding; `nkigrid resume {}{}` continues them", evidence.outstanding,
         options.runs.size() == 1 ? options.runs.front() : "RUN", here ? " --local" : "");
  return ExitCode::incomplete;
}

ExitCode tables_of_run(const TablesOptions& options, const Request& request) {
  const auto run = jobs::load_run(options.runs.front());
  if (options.write) aggregate::write_tables(run, run.folder / "tables");
  const auto ledger = log::read_ledger(run);
  std::optional<aggregate::TurnFacts> turns;
  if (needs_turns(request.tables)) turns = aggregate::read_turn_facts(run, ledger);
  const auto evidence = aggregate::evidence_of(run, ledger, request.options, turns ? &*turns : nullptr);
  print(evidence, request, options.quiet);
  return conclude(evidence, options);
}

ExitCode tables_of_runs(const TablesOptions& options, const Request& request) {
  const auto sources = aggregate::read_runs(options.runs);
  const auto population = aggregate::merge_runs(sources);
  std::optional<aggregate::TurnFacts> turns;
  if (needs_turns(request.tables)) turns = aggregate::read_turn_facts(population, sources);
  const auto evidence = aggregate::evidence_of(population, request.options, turns ? &*turns : nullptr);
  print(evidence, request, options.quiet);
  return conclude(evidence, options);
}

ExitCode tables_of_counts(const TablesOptions& options, const Request& request) {
  if (options.rule != "paper" || options.adjust != "holm" || options.interval != "auto" || options.by != "contrast" ||
      options.test != "mid-p" || !options.relative_to.empty())
    throw Error(ErrorCode::usage,
                "--rule, --adjust, --interval, --by, --test and --relative-to need a RUN (printed counts are of one "
                "rule and have no episodes); leave them out");
  auto counts = aggregate::read_counts(options.counts);
  if (!options.subset.empty()) counts = aggregate::only_subset(std::move(counts), options.subset);
  print(aggregate::evidence_of(counts, request.options.confidence, options.against), request, options.quiet);
  return ExitCode::done;
}

/// The episodes behind the numbers of a run.
ExitCode rows_of_run(const TablesOptions& options) {
  if (options.runs.size() != 1) throw Error(ErrorCode::usage, "--rows lists the episodes of one RUN; name one");
  const auto run = jobs::load_run(options.runs.front());
  exports::check_chosen(run.plan, options.chosen);
  const auto episodes = list_episodes(run, "", options.chosen);
  const bool json = options.json || options.format == "json";
  fmt::print("{}", json ? episodes_json(episodes) : episodes_text(episodes, terminal_columns(STDOUT_FILENO)));
  return ExitCode::done;
}

ExitCode tables(const TablesOptions& options) {
  if (options.explain) {
    fmt::print("{}", explain_tables(options.tables, terminal_columns(STDOUT_FILENO)));
    return ExitCode::done;
  }
  if (options.rows) return rows_of_run(options);
  if (options.chosen != exports::Chosen{})
    throw Error(
        ErrorCode::usage,
        "--cell, --task, --level, --category, --outcome and --code choose what --rows lists; add --rows (tables "
        "of a part of the tasks: --subset)");
  const auto request = read_request(options);
  if (options.runs.empty() == options.counts.empty())
    throw Error(ErrorCode::usage, "tables wants a RUN or --counts FILE, and not both");
  if (!options.counts.empty()) return tables_of_counts(options, request);
  if (options.runs.size() == 1) return tables_of_run(options, request);
  if (options.write) throw Error(ErrorCode::usage, "--write is for one RUN (whose RUN/tables it writes); leave it out");
  return tables_of_runs(options, request);
}

}  // namespace

Verb tables_verb() {
  return {
      "tables", "prints the tables of one run, or of several put together, with intervals",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<TablesOptions>();
        app.add_option("run", options->runs,
                       "frozen runs: the same key and seed are the same episodes, another seed adds "
                       "replicates, another key is kept apart")
            ->type_name("RUN");
        app.add_option("--counts", options->counts, "printed counts in place of a run (docs/formats/counts.md)")
            ->type_name("FILE");
        app.add_option("--table", options->tables, aggregate::table_names_help() + "; may be given several times")
            ->type_name("NAME")
            ->allow_extra_args(false);
        app.add_option("--subset", options->subset, "only the tasks of this subset")->type_name("S");
        app.add_option("--rule", options->rule, "which verdict counts: paper, strict, best (of the best kernel)")
            ->type_name("RULE")
            ->capture_default_str();
        app.add_option("--adjust", options->adjust, "how p values are adjusted: holm, or bh (false discovery rate)")
            ->type_name("HOW")
            ->capture_default_str();
        app.add_option("--interval", options->interval, "intervals of rates: auto, or clopper-pearson")
            ->type_name("METHOD")
            ->capture_default_str();
        app.add_option("--test", options->test, "p values of paired tests: mid-p, or exact (never above its level)")
            ->type_name("HOW")
            ->capture_default_str();
        app.add_option("--by", options->by, "scopes of pairs: those of the contrasts, and every level or category")
            ->type_name("WHAT")
            ->capture_default_str();
        app.add_option("--against", options->against,
                       "the model, mode or prompt that ablations are held against; default: the first listed")
            ->type_name("VALUE");
        app.add_option("--relative-to", options->relative_to, "the cell that costs are relative to; default: the first")
            ->type_name("CELL");
        app.add_option("--format", options->format, aggregate::format_names_help())
            ->type_name("FORMAT")
            ->capture_default_str();
        app.add_flag("--json", options->json, "the same as --format json");
        app.add_flag("--partial", options->partial, "with episodes outstanding, prints the rate over the scored ones");
        app.add_flag("--write", options->write,
                     "also writes RUN/tables, as `run` does (the aggregation job calls this)");
        app.add_flag("--rows", options->rows,
                     "lists the episodes behind the numbers in place of them; --cell, --level, --outcome and the like "
                     "choose");
        app.add_flag("--explain", options->explain,
                     "says what each column of the named tables is, and where its formula stands; reads no RUN");
        add_chosen_options(app, options->chosen);
        app.add_flag("-q,--quiet", options->quiet, "no diagnostics but the cause of a failure");
        return [options] { return tables(*options); };
      }};
}

}  // namespace nkigrid::cli
