#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/episode_list.hpp"
#include "cli/grids.hpp"
#include "cli/set_option.hpp"
#include "cli/terminal.hpp"
#include "cli/transcript.hpp"
#include "cli/verb.hpp"
#include "cli/wire_lines.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"
#include "jobs/plan.hpp"
#include "jobs/run_directory.hpp"
#include "runner/agent/modes.hpp"
#include "runner/agent/task_message.hpp"
#include "runner/log/history.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/reader.hpp"
#include "runner/model/wire/wire.hpp"

namespace nkigrid::cli {
namespace {

namespace fs = std::filesystem;

struct ShowOptions {
  std::string source, episode, prompt_task, cell;
  std::vector<std::string> sets;
  bool json = false, full = false, failed = false, request = false, wire = false, quiet = false;
};

bool wants_color() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool plain =
      (no_color != nullptr && *no_color != '\0') || terminal == nullptr || std::string(terminal) == "dumb";
  return !plain && ::isatty(STDOUT_FILENO) == 1;
}

/// With the near names among episodes, cells and their tasks.
Error no_such_episode(const jobs::Plan& plan, const std::string& wanted) {
  std::vector<std::string> names;
  for (const auto& cell : plan.cells) names.push_back(cell.id);
  for (const auto& episode : plan.episodes) {
    auto id = to_string(plan.id_of(episode));
    if (episode.replicate == 1) names.push_back(id.substr(0, id.rfind('#')));
    names.push_back(std::move(id));
  }
  return {ErrorCode::usage, fmt::format("no episode '{}' in this run{}; episodes are cell/task#replicate, and `nkigrid "
                                        "show RUN CELL` lists those of a cell",
                                        wanted, did_you_mean(wanted, names))};
}

/// The episode's place in the plan. @throws Error{usage} with near names
std::size_t find_episode(const jobs::Plan& plan, const EpisodeId& id) {
  for (std::size_t i = 0; i < plan.episodes.size(); ++i) {
    if (plan.id_of(plan.episodes[i]) == id) return i;
  }
  throw no_such_episode(plan, to_string(id));
}

/// The end, with its texts, of the attempt that counts, or of the newest that ended where none does (0).
std::optional<log::End> read_end(const jobs::Run& run, const EpisodeId& id, const std::string& key,
                                 std::uint32_t counted_attempt) {
  std::optional<log::End> found;
  log::LogVisitor visitor;
  visitor.end = [&](const log::End& end) {
    if (end.id.episode != id || end.id.key != key) return;
    const bool is_it = counted_attempt > 0 ? !found && end.id.attempt == counted_attempt
                                           : !found || found->id.attempt < end.id.attempt;
    if (is_it) found = end;
  };
  log::read_log(log::log_of(run), log::Texts::load, visitor);
  return found;
}

Transcript read_transcript(const jobs::Run& run, const EpisodeId& id) {
  const std::size_t index = find_episode(run.plan, id);
  const auto& planned = run.plan.episodes[index];
  const std::string& key = run.plan.key(planned.cell, planned.task);
  const log::Ledger ledger = log::read_ledger(run);
  for (const auto& warning : ledger.warnings) warn("{}", warning);
  Transcript transcript;
  transcript.episode = to_string(id);
  transcript.turns = log::read_history(log::log_of(run), id, key);
  transcript.state = std::string(log::to_string(ledger.states[index].outstanding));
  transcript.end = read_end(run, id, key, ledger.states[index].counted_attempt);
  return transcript;
}

ExitCode show_episode(const jobs::Run& run, const ShowOptions& options, const std::string& episode) {
  const Transcript transcript = read_transcript(run, parse_episode_id(episode));
  if (options.wire) {
    fmt::print("{}", wire_lines(transcript));
    const auto is_bare = [](const auto& turn) { return turn.reply.raw.empty(); };
    if (!options.quiet && std::all_of(transcript.turns.begin(), transcript.turns.end(), is_bare))
      notice("no bytes of a server are logged here: a model without an endpoint sends nothing");
    return ExitCode::done;
  }
  const std::string text =
      options.json ? render_json(transcript) : render_text(transcript, {wants_color(), options.full});
  fmt::print("{}", text);
  return ExitCode::done;
}

/// Episodes by their cell, or by cell and task.
ExitCode show_list(const jobs::Run& run, const ShowOptions& options) {
  auto episodes = list_episodes(run, options.episode);
  if (options.failed)
    std::erase_if(episodes, [](const ListedEpisode& episode) { return episode.outcome.empty() || episode.passed; });
  if (options.json) {
    fmt::print("{}", episodes_json(episodes));
    return ExitCode::done;
  }
  fmt::print("{}", episodes_text(episodes, terminal_columns(STDOUT_FILENO)));
  if (options.quiet) return ExitCode::done;
  if (episodes.empty())
    notice("no episode here {}", options.failed ? "failed" : "is planned");
  else
    notice("`nkigrid show {} '{}'` prints one", options.source, episodes.front().episode);
  return ExitCode::done;
}

/// What the second word names: one episode (the only replicate of a task, too), or several. @throws Error{usage}
ExitCode show_run(const ShowOptions& options) {
  if (!jobs::is_run(options.source)) {
    throw Error(ErrorCode::usage,
                fmt::format("'{}' is no run; `nkigrid show RUN EPISODE` reads a run's folder", options.source));
  }
  const jobs::Run run = jobs::load_run(options.source);
  if (options.failed) return show_list(run, options);
  if (options.episode.find('#') != std::string::npos) return show_episode(run, options, options.episode);
  const auto named = list_episodes(run, options.episode);
  if (named.empty()) throw no_such_episode(run.plan, options.episode);
  if (named.size() == 1) return show_episode(run, options, named.front().episode);
  return show_list(run, options);
}

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

/// CELL/TASK, or TASK with --cell: a cell's name has dots and no slash, and no task's first part has a dot.
struct Wanted {
  std::string cell, task;
};

Wanted wanted_of(const ShowOptions& options) {
  const auto slash = options.prompt_task.find('/');
  const auto first = options.prompt_task.substr(0, slash);
  if (slash == std::string::npos || first.find('.') == std::string::npos) return {options.cell, options.prompt_task};
  if (!options.cell.empty() && options.cell != first)
    throw Error(ErrorCode::usage, fmt::format("--cell '{}' and --prompt '{}' name two cells; name one", options.cell,
                                              options.prompt_task));
  return {first, options.prompt_task.substr(slash + 1)};
}

/// The request's body as it would go over the wire. @throws Error{usage} for a model without an endpoint
std::string request_text(const jobs::ModelSpec& model, model::ChatRequest chat) {
  if (!has_endpoint(model.api))
    throw Error(ErrorCode::usage,
                fmt::format("model '{}' has no endpoint, so nothing is sent; leave --request away", model.name));
  return model::request_body(chat, model) + "\n";
}

ExitCode show_prompt(const ShowOptions& options) {
  const Source source = open_source(options.source, options.sets);
  const Wanted wanted = wanted_of(options);
  const jobs::CellSpec& cell = find_cell(source.grid, wanted.cell);
  const jobs::Task* task = source.benchmark.find(wanted.task);
  if (task == nullptr) {
    std::vector<std::string> ids;
    for (const auto& known : source.benchmark.tasks) ids.push_back(known.id);
    throw Error(ErrorCode::usage, fmt::format("no task '{}' in benchmark '{}'{}", wanted.task, source.benchmark.name,
                                              did_you_mean(wanted.task, ids)));
  }
  const jobs::ModeSpec& mode = source.grid.mode(cell.mode);
  const auto messages = agent::first_messages(*task, source.grid.prompt(cell.prompt), mode);
  const auto& tools = agent::rules_of(mode.kind).tools;
  if (options.request) {
    const auto seed = sampling_seed(source.grid.seed, cell.id, task->id, 1);
    fmt::print("{}", request_text(source.grid.model(cell.model), {.messages = messages, .tools = tools, .seed = seed}));
    return ExitCode::done;
  }
  fmt::print("{}", render_prompt(messages, tools, options.json));
  return ExitCode::done;
}

ExitCode show(const ShowOptions& options) {
  if (!options.prompt_task.empty()) return show_prompt(options);
  if (options.episode.empty() && !options.failed)
    throw Error(ErrorCode::usage,
                "name an episode (cell/task#replicate), a cell, --failed, or --prompt TASK; see `nkigrid show --help`");
  return show_run(options);
}

}  // namespace

Verb show_verb() {
  return {
      "show", "prints one transcript, a list of episodes, or a prompt as the model gets it",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<ShowOptions>();
        app.add_option("source", options->source, "run directory; with --prompt also a grid file")
            ->required()
            ->type_name("RUN|GRID");
        app.add_option("episode", options->episode,
                       "cell/task#replicate, e.g. novice.agent.rank-aware/L1/002_gelu#1; cell/task or cell: a line an "
                       "episode of these")
            ->type_name("EPISODE");
        app.add_flag("--failed", options->failed, "a line for each episode that failed, with the reason");
        app.add_option("--prompt", options->prompt_task, "print the prompt of this task instead")
            ->type_name("[CELL/]TASK");
        app.add_flag("--request", options->request, "with --prompt: the first request's body, as replicate 1 sends it");
        add_set_option(app, options->sets);
        app.add_option("--cell", options->cell, "cell whose prompt and mode count (default: the first)")
            ->type_name("C");
        app.add_flag("--wire", options->wire,
                     "each turn's request and response as they went over the wire, as JSON lines");
        app.add_flag("--full", options->full, "every kernel whole, not only the lines that changed");
        app.add_flag("--json", options->json, "machine-readable, on stdout");
        app.add_flag("-q,--quiet", options->quiet, "no notices");
        return [options] { return show(*options); };
      }};
}

}  // namespace nkigrid::cli
