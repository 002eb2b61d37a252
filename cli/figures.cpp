#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/tables/document.hpp"
#include "aggregate/tables/estimates.hpp"
#include "aggregate/tables/power_curve.hpp"
#include "cli/python_tool.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"
#include "jobs/run_folders.hpp"

namespace nkigrid::cli {
namespace {

namespace fs = std::filesystem;

constexpr Seconds kDrawTimeout{900};

struct FiguresOptions {
  std::vector<std::string> runs, names;
  std::string counts, folder, subset, rule = "paper";
  bool png = false, partial = false, quiet = false;
};

/// A figure, the tables that it is drawn from (figures/draw.py), and whether printed counts have them.
struct Figure {
  const char* name;
  std::vector<const char*> tables;
  bool of_counts;
};

const std::vector<Figure>& all_figures() {
  static const std::vector<Figure> kFigures = {{"levels", {"levels", "cells"}, true},
                                               {"ablation", {"ablation"}, true},
                                               {"pairs", {"pairs"}, true},
                                               {"turns", {"turns"}, false},
                                               {"errors", {"errors"}, false},
                                               {"transitions", {"transitions"}, false},
                                               {"cost", {"cost", "cells"}, false},
                                               {"power", {}, true},
                                               {"estimates", {}, false}};
  return kFigures;
}

std::vector<const Figure*> wanted_figures(const FiguresOptions& options) {
  std::vector<std::string> known;
  std::vector<const Figure*> wanted;
  const bool counts = !options.counts.empty();
  for (const auto& figure : all_figures()) {
    known.emplace_back(figure.name);
    const bool named = std::find(options.names.begin(), options.names.end(), figure.name) != options.names.end();
    if (named && counts && !figure.of_counts)
      throw Error(ErrorCode::usage,
                  fmt::format("figure '{}' needs a RUN (printed counts have no episodes)", figure.name));
    if (named || (options.names.empty() && (figure.of_counts || !counts))) wanted.push_back(&figure);
  }
  for (const auto& name : options.names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ErrorCode::usage,
                  fmt::format("unknown figure '{}'{} ({})", name, did_you_mean(name, known), fmt::join(known, ", ")));
  }
  return wanted;
}

/// The data of the figures, as `tables --format csv` prints them, by the name of the file.
std::map<std::string, std::string> data_of(const aggregate::Evidence& evidence,
                                           const std::vector<const Figure*>& figures) {
  std::map<std::string, std::string> data;
  const auto from = evidence.from_counts() ? aggregate::From::counts : aggregate::From::runs;
  for (const auto* figure : figures) {
    for (const auto* table : figure->tables) {
      const auto list = aggregate::parse_tables({table}, aggregate::Format::csv, from);
      data[fmt::format("{}.csv", table)] = aggregate::print_tables(evidence, list, aggregate::Format::csv);
    }
    const std::string_view name = figure->name;
    if (name == "power") data["power.csv"] = aggregate::sheet_as_csv(aggregate::power_curve(evidence));
    if (name == "estimates") data["rooflines.csv"] = aggregate::sheet_as_csv(aggregate::rooflines(evidence));
  }
  return data;
}

void draw(const FiguresOptions& options, const std::vector<const Figure*>& figures,
          const aggregate::Evidence& evidence) {
  const auto data = data_of(evidence, figures);  // before there is a folder that somebody has to remove
  const TemporaryDirectory scratch("nkigrid-figures");
  const auto given = scratch.path() / "data", drawn = scratch.path() / "drawn";
  for (const auto& folder : {given, drawn}) make_directories(folder);
  for (const auto& [name, text] : data) write_file_atomic(given / name, text);
  std::vector<std::string> arguments = {given, drawn};
  if (options.png) arguments.emplace_back("--png");
  for (const auto* figure : figures) arguments.emplace_back(figure->name);
  const auto told = run_python_tool("figures/draw.py", arguments, kDrawTimeout, scratch);
  // Renamed into place: a link of that name is replaced, not written through.
  for (const auto& file : fs::directory_iterator(drawn))
    write_file_atomic(fs::path(options.folder) / file.path().filename(), read_file(file.path()));
  if (!options.quiet && !told.empty()) notice("{}", told.substr(0, told.size() - 1));
}

ExitCode figures_of_runs(FiguresOptions options, const std::vector<const Figure*>& figures) {
  const auto sources = aggregate::read_runs(options.runs);
  if (options.folder.empty())
    options.folder = jobs::make_own_folder(options.runs.front(), "figures");
  else
    make_directories(options.folder);
  const auto population = aggregate::merge_runs(sources);
  const auto turns = aggregate::read_turn_facts(population, sources);
  aggregate::TableOptions how;
  how.rule = aggregate::parse_rule(options.rule);
  how.partial = options.partial;
  if (!options.subset.empty()) how.subset = options.subset;
  const auto evidence = aggregate::evidence_of(population, how, &turns);
  draw(options, figures, evidence);
  if (evidence.outstanding == 0) return ExitCode::done;
  notice("{} episodes are outstanding; rates of cells that have some are {}", evidence.outstanding,
         options.partial ? "over the scored ones" : "left out (--partial draws them)");
  return ExitCode::incomplete;
}

ExitCode figures_of_counts(FiguresOptions options, const std::vector<const Figure*>& figures) {
  if (options.folder.empty())
    throw Error(ErrorCode::usage, "printed counts have no folder of their own; say with -o DIR where figures go");
  auto counts = aggregate::read_counts(options.counts);
  make_directories(options.folder);
  if (!options.subset.empty()) counts = aggregate::only_subset(std::move(counts), options.subset);
  const auto evidence = aggregate::evidence_of(counts);
  draw(options, figures, evidence);
  return ExitCode::done;
}

ExitCode figures(const FiguresOptions& options) {
  const auto wanted = wanted_figures(options);
  if (options.runs.empty() == options.counts.empty())
    throw Error(ErrorCode::usage, "figures wants a RUN or --counts FILE, and not both");
  return options.counts.empty() ? figures_of_runs(options, wanted) : figures_of_counts(options, wanted);
}

}  // namespace

Verb figures_verb() {
  return {"figures", "draws the figures of one run, or of several put together: SVG, PDF, the data beside them",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<FiguresOptions>();
            app.add_option("run", options->runs, "runs, put together as `tables` does")->type_name("RUN");
            app.add_option("--counts", options->counts, "printed counts in place of a run (docs/formats/counts.md)")
                ->type_name("FILE");
            std::vector<std::string> names;
            for (const auto& figure : all_figures()) names.emplace_back(figure.name);
            app.add_option("--figure", options->names,
                           fmt::format("{}; may be given several times; default: all", fmt::join(names, ", ")))
                ->type_name("NAME")
                ->allow_extra_args(false);
            app.add_option("-o,--output", options->folder, "where they go; default: RUN/figures")->type_name("DIR");
            app.add_option("--subset", options->subset, "only the tasks of this subset")->type_name("S");
            app.add_option("--rule", options->rule, "which verdict counts: paper, strict, best")
                ->type_name("RULE")
                ->capture_default_str();
            app.add_flag("--png", options->png, "PNG files too, 200 dots an inch");
            app.add_flag("--partial", options->partial, "with episodes outstanding, rates over the scored ones");
            app.add_flag("-q,--quiet", options->quiet, "no notices");
            return [options] { return figures(*options); };
          }};
}

}  // namespace nkigrid::cli
