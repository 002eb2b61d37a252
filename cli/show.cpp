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

#include "cli/chosen_options.hpp"
#include "cli/episode_list.hpp"
#include "cli/log_folder.hpp"
#include "cli/pager.hpp"
#include "cli/set_option.hpp"
#include "cli/show_prompt.hpp"
#include "cli/terminal.hpp"
#include "cli/transcript.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "cli/wire_lines.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"
#include "jobs/plan.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/history.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/reader.hpp"

namespace nkigrid::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMany = 1'000'000'000;

struct ShowOptions {
  std::string source, episode;
  PromptRequest prompt;  ///< no task: transcripts or lists are asked for
  bool json = false, full = false, failed = false, wire = false, quiet = false;
  bool diff = false, kernel = false, no_pager = false;
  std::uint32_t turn = 0;  ///< 0: all
  std::size_t limit = 0;   ///< lines of a list; 0: all
  exports::Chosen chosen;

  bool lists() const { return failed || limit > 0 || chosen != exports::Chosen{}; }
  /// The option that is of one episode alone, or "".
  const char* of_one() const {
    return kernel ? "--kernel" : diff ? "--diff" : wire ? "--wire" : full ? "--full" : turn > 0 ? "--turn" : "";
  }
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
  warn_of_log(run, ledger);
  Transcript transcript;
  transcript.episode = to_string(id);
  transcript.turns = log::read_history(log::log_of(run), id, key);
  transcript.state = std::string(log::to_string(ledger.states[index].outstanding));
  transcript.end = read_end(run, id, key, ledger.states[index].counted_attempt);
  return transcript;
}

/// The newest kernel of a transcript, or that of a turn. @throws Error{usage} where there is none
std::string kernel_of(const Transcript& transcript, std::uint32_t turn) {
  for (auto logged = transcript.turns.rbegin(); logged != transcript.turns.rend(); ++logged) {
    if (turn != 0 && logged->reply.turn != turn) continue;
    if (logged->turn && !logged->turn->kernel.empty()) return logged->turn->kernel;
  }
  throw Error(ErrorCode::usage,
              turn == 0 ? fmt::format("'{}' gave no kernel", transcript.episode)
                        : fmt::format("turn {} of '{}' gave no kernel; without --turn the newest is printed", turn,
                                      transcript.episode));
}

/// A kernel as a file holds it; on a terminal what steers it is made visible.
void print_kernel(const Transcript& transcript, std::uint32_t turn) {
  const auto kernel = kernel_of(transcript, turn);
  fmt::print("{}", ::isatty(STDOUT_FILENO) == 1 ? printable(kernel) : kernel);
}

void check_turn(const Transcript& transcript, std::uint32_t turn) {
  if (turn == 0 || (turn <= transcript.turns.size())) return;
  throw Error(ErrorCode::usage,
              fmt::format("no turn {} in '{}' (it has {})", turn, transcript.episode, transcript.turns.size()));
}

ExitCode show_episode(const jobs::Run& run, const ShowOptions& options, const std::string& episode) {
  const Transcript transcript = read_transcript(run, parse_episode_id(episode));
  check_turn(transcript, options.turn);
  if (options.kernel) {
    print_kernel(transcript, options.turn);
  } else if (options.wire) {
    fmt::print("{}", wire_lines(transcript));
    const auto is_bare = [](const auto& turn) { return turn.reply.raw.empty(); };
    if (!options.quiet && std::all_of(transcript.turns.begin(), transcript.turns.end(), is_bare))
      notice("no bytes of a server are logged here: a model without an endpoint sends nothing");
  } else if (options.json) {
    fmt::print("{}", render_json(transcript));
  } else {
    const TranscriptStyle style{wants_color(), options.full, options.turn};
    const auto text = options.diff ? render_diffs(transcript, style) : render_text(transcript, style);
    page(text, options.no_pager);
  }
  return ExitCode::done;
}

/// A list has nothing of what is asked of one episode. @throws Error{usage}
void refuse_of_one(const ShowOptions& options) {
  if (const std::string option = options.of_one(); !option.empty())
    throw Error(ErrorCode::usage, fmt::format("{} is of one episode; name it (cell/task#replicate): `nkigrid show {} "
                                              "EPISODE {}`, and without {} episodes are listed",
                                              option, options.source, option, option));
}

/// Episodes by their cell, or by cell and task.
ExitCode show_list(const jobs::Run& run, const ShowOptions& options) {
  refuse_of_one(options);
  exports::check_chosen(run.plan, options.chosen);
  auto episodes = list_episodes(run, options.episode, options.chosen);
  if (options.failed)
    std::erase_if(episodes, [](const ListedEpisode& episode) { return episode.outcome.empty() || episode.passed; });
  const auto found = episodes.size();
  if (options.limit > 0 && found > options.limit) episodes.resize(options.limit);
  if (options.json) {
    fmt::print("{}", episodes_json(episodes));
    return ExitCode::done;
  }
  page(episodes_text(episodes, terminal_columns(STDOUT_FILENO)), options.no_pager);
  if (options.quiet) return ExitCode::done;
  if (episodes.empty())
    notice("no episode here {}", options.failed ? "failed" : "is what was asked for");
  else if (episodes.size() < found)
    notice("{} of {} episodes; a larger --limit shows more", episodes.size(), found);
  else
    notice("`nkigrid show {} '{}'` prints one", options.source, episodes.front().episode);
  return ExitCode::done;
}

/// What the second word names: one episode (the only replicate of a task, too), or several. @throws Error{usage}
ExitCode show_run(const ShowOptions& options) {
  if (!jobs::is_run(options.source)) {
    throw Error(ErrorCode::usage,
                fmt::format("'{}' is no run; `nkigrid show RUN` lists a run's episodes, `show RUN EPISODE` prints one, "
                            "and of a grid --prompt TASK prints a prompt",
                            options.source));
  }
  const jobs::Run run = jobs::load_run(options.source);
  if (options.episode.empty() || options.lists()) return show_list(run, options);
  if (options.episode.find('#') != std::string::npos) return show_episode(run, options, options.episode);
  const auto named = list_episodes(run, options.episode);
  if (named.empty()) throw no_such_episode(run.plan, options.episode);
  if (named.size() == 1) return show_episode(run, options, named.front().episode);
  return show_list(run, options);
}

PromptRequest prompt_request(const ShowOptions& options) {
  auto request = options.prompt;
  request.source = options.source;
  request.json = options.json;
  if (!options.chosen.cells.empty()) request.cell = options.chosen.cells.front();
  return request;
}

ExitCode show(const ShowOptions& options) {
  if (!options.prompt.task.empty()) return show_prompt(prompt_request(options));
  return show_run(options);
}

}  // namespace

Verb show_verb() {
  return {"show", "prints one transcript, a list of episodes, or a prompt as the model gets it",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<ShowOptions>();
            app.add_option("source", options->source, "run directory; with --prompt also a grid file")
                ->required()
                ->type_name("RUN|GRID");
            app.add_option(
                   "episode", options->episode,
                   "cell/task#replicate, e.g. novice.agent.rank-aware/L1/002_gelu#1; cell/task or cell: a line an "
                   "episode of these; without it a line an episode of the run")
                ->type_name("EPISODE");
            app.add_flag("--failed", options->failed, "a line for each episode that failed, with the reason");
            app.add_option("--prompt", options->prompt.task, "print the prompt of this task instead")
                ->type_name("[CELL/]TASK");
            app.add_flag("--request", options->prompt.request,
                         "with --prompt: the first request's body, as replicate 1 sends it");
            add_set_option(app, options->prompt.sets);
            add_chosen_options(app, options->chosen);
            want_whole(app.add_option("--limit", options->limit, "at most so many lines of a list"), 1, kMany);
            want_whole(app.add_option("--turn", options->turn, "only this turn of the transcript, or its kernel"), 1,
                       kMany);
            app.add_flag("--diff", options->diff,
                         "what each turn changed in the kernel, what was found of it, and the outcome");
            app.add_flag("--kernel", options->kernel, "the final kernel alone, byte for byte (--turn T: that turn's)");
            app.add_flag("--wire", options->wire,
                         "each turn's request and response as they went over the wire, as JSON lines");
            app.add_flag("--no-pager", options->no_pager, "straight to the terminal, however long");
            app.add_flag("--full", options->full, "every kernel whole, not only the lines that changed");
            app.add_flag("--json", options->json, "machine-readable, on stdout");
            app.add_flag("-q,--quiet", options->quiet, "no notices");
            return [options] { return show(*options); };
          }};
}

}  // namespace nkigrid::cli
