#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/chosen_options.hpp"
#include "cli/export_conversations.hpp"
#include "cli/export_rows.hpp"
#include "cli/log_folder.hpp"
#include "cli/row_writer.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::cli {
namespace {

struct ExportOptions {
  std::string run, format = "jsonl", arguments, output;
  bool attempts = false, turns = false, texts = false, quiet = false;
  bool passed = false, best_turn = false, dedup = false;
  std::vector<std::string> hold_out;
  exports::Chosen chosen;
};

bool is_of_rows(const std::string& format) { return format == "jsonl" || format == "csv"; }
bool is_of_training(const std::string& format) { return format.rfind("sft-", 0) == 0; }

void check_format(const std::string& format) {
  const std::vector<std::string> formats = {"jsonl", "csv", "sft-openai", "sft-trl", "sft-sharegpt", "inspect", "atif"};
  if (std::find(formats.begin(), formats.end(), format) != formats.end()) return;
  if (format == "parquet") {
    throw Error(ErrorCode::usage,
                "export format 'parquet' is not in this build (Debian 12 has no Arrow); where pandas and pyarrow are, "
                "`pandas.read_json(FILE, lines=True).to_parquet(OUT)` makes it from `--format jsonl`");
  }
  throw Error(ErrorCode::usage, fmt::format("unknown export format '{}'{} ({})", format, did_you_mean(format, formats),
                                            fmt::join(formats, ", ")));
}

/// What is said beside a format that has no place for it.
void check_options(const ExportOptions& options) {
  check_format(options.format);
  const auto refuse_if = [](bool wrong, const char* why) {
    if (wrong) throw Error(ErrorCode::usage, why);
  };
  const bool rows = is_of_rows(options.format), training = is_of_training(options.format);
  refuse_if(options.texts && !options.turns, "--texts is of turns, not of episodes; add --turns");
  refuse_if(options.attempts && options.turns, "--attempts and --turns are two tables; take one after the other");
  refuse_if(!rows && (options.attempts || options.turns), "--attempts and --turns are of --format jsonl and csv");
  const bool lessons =
      options.passed || options.best_turn || options.dedup || !options.hold_out.empty() || !options.arguments.empty();
  refuse_if(!training && lessons,
            "--passed, --best-turn, --dedup, --hold-out and --arguments are of --format sft-openai, sft-trl and "
            "sft-sharegpt; leave them out");
  refuse_if(options.format == "sft-sharegpt" && !options.arguments.empty(),
            "--arguments is of sft-openai and sft-trl (sft-sharegpt writes calls into the text); leave it out");
  refuse_if(!options.arguments.empty() && options.arguments != "string" && options.arguments != "object",
            "--arguments is neither string nor object");
  refuse_if(rows && !options.output.empty(), "-o is of the formats of conversations; rows go to standard output");
  refuse_if(!rows && !training && options.output.empty(), "these formats are files of their own; add -o FOLDER");
}

exports::SftOptions sft_options(const ExportOptions& options) {
  exports::SftOptions sft;
  sft.form = options.format == "sft-openai" ? exports::SftForm::openai
             : options.format == "sft-trl"  ? exports::SftForm::trl
                                            : exports::SftForm::sharegpt;
  const auto usual = sft.form == exports::SftForm::openai ? "string" : "object";
  sft.arguments = (options.arguments.empty() ? usual : options.arguments) == "object" ? exports::ArgumentsAs::object
                                                                                      : exports::ArgumentsAs::string;
  sft.end = options.best_turn ? exports::LessonEnd::passing_turn : exports::LessonEnd::last_turn;
  sft.passed_only = options.passed;
  sft.once = options.dedup;
  sft.held_out = options.hold_out;
  return sft;
}

using Places = std::vector<std::uint32_t>;

void export_conversations(const ExportOptions& options, const jobs::Run& run, const log::Ledger& ledger,
                          const Places& places) {
  exports::check_chosen(run.plan, {.tasks = options.hold_out});
  std::vector<std::string> said;
  if (options.format == "inspect")
    said = export_inspect(run, ledger, places, options.output);
  else if (options.format == "atif")
    said = export_atif(run, ledger, places, options.output);
  else
    said = export_sft(run, ledger, places, sft_options(options), options.output);
  if (!options.quiet)
    for (const auto& line : said) notice("{}", line);
}

void export_rows(const ExportOptions& options, const jobs::Run& run, const log::Ledger& ledger, const Places& places) {
  RowWriter rows(options.format == "csv" ? RowFormat::csv : RowFormat::jsonl);
  if (options.turns)
    export_turns(rows, run, ledger, places, options.texts);
  else if (options.attempts)
    export_attempts(rows, run, ledger, places);
  else
    export_episodes(rows, run, ledger, places);
  rows.close();
}

ExitCode export_run(const ExportOptions& options) {
  check_options(options);
  const auto run = jobs::load_run(options.run);
  const auto ledger = log::read_ledger(run);
  warn_of_log(run, ledger);
  exports::check_chosen(run.plan, options.chosen);
  const auto places = exports::places_of(run.plan, ledger, options.chosen);
  if (is_of_rows(options.format))
    export_rows(options, run, ledger, places);
  else
    export_conversations(options, run, ledger, places);
  return ExitCode::done;
}

}  // namespace

Verb export_verb() {
  return {
      "export", "takes a run's log out: rows of it, conversations for other tools, sets to train on",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<ExportOptions>();
        app.add_option("run", options->run, "run folder")->required()->type_name("RUN");
        app.add_option("--format", options->format,
                       "rows: jsonl, csv; conversations: inspect (.eval logs), atif; training sets: sft-openai, "
                       "sft-trl, sft-sharegpt")
            ->type_name("FORMAT")
            ->capture_default_str();
        app.add_option("-o,--output", options->output, "inspect, atif: a folder; sft-*: a file, else standard output")
            ->type_name("OUT");
        app.add_flag("--attempts", options->attempts,
                     "one row an attempt that ended; `counted` marks the one that counts");
        app.add_flag("--turns", options->turns, "one row a turn, of every attempt; `counted` marks those that count");
        app.add_flag("--texts", options->texts, "with --turns: request, reply, kernel and tool output too");
        app.add_flag("--passed", options->passed, "sft-*: only episodes that passed");
        app.add_flag("--best-turn", options->best_turn,
                     "sft-*: conversations end with the turn that first had a passing kernel; without one: left out");
        app.add_flag("--dedup", options->dedup, "sft-*: of rows that say the same, the first");
        app.add_option("--hold-out", options->hold_out, "sft-*: no row of this task; several times, with * and ?")
            ->type_name("ID")
            ->allow_extra_args(false);
        app.add_option("--arguments", options->arguments,
                       "sft-openai (string), sft-trl (object): arguments of calls as string or object")
            ->type_name("FORM");
        add_chosen_options(app, options->chosen);
        app.add_flag("-q,--quiet", options->quiet, "no counts on stderr");
        return [options] { return export_run(*options); };
      }};
}

}  // namespace nkigrid::cli
