#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/json_text.hpp"
#include "cli/log_folder.hpp"
#include "cli/own_rights.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "jobs/base/clock.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"
#include "jobs/run_directory.hpp"
#include "runner/agent/agent.hpp"
#include "runner/device/make_device.hpp"
#include "runner/log/audit.hpp"
#include "runner/log/history.hpp"
#include "runner/log/ledger.hpp"
#include "runner/model/key.hpp"

namespace nkigrid::cli {
namespace {

struct AuditOptions {
  std::string run;
  std::uint32_t sample = 0;  ///< 0: all
  bool json = false, quiet = false, trust = false;
};

/// A logged conversation is whole: nobody is asked, but to say again that a context was full.
class NoModel : public model::ChatModel {
 public:
  explicit NoModel(EndedBy logged) : logged_(logged) {}
  model::ChatReply complete(const model::ChatRequest&, std::stop_token) override {
    if (logged_ == EndedBy::context_full) throw model::ChatError(model::ChatFailure::context_full, "as it was then");
    throw Error(ErrorCode::corrupt, "the log lacks turns of it");
  }

 private:
  EndedBy logged_;
};

/// Scored episodes (a pass may have been turned into an end without a kernel, too), in an order that nobody can
/// foresee: who forges must not know which are looked at.
std::vector<std::uint32_t> drawn_episodes(const log::Ledger& ledger, std::uint32_t sample) {
  std::vector<std::uint32_t> episodes;
  for (std::uint32_t i = 0; i < ledger.ends.size(); ++i) {
    const auto& end = ledger.ends[i];
    if (end && is_scored(end->outcome)) episodes.push_back(i);
  }
  std::random_device device;
  std::shuffle(episodes.begin(), episodes.end(), device);
  if (sample > 0 && sample < episodes.size()) episodes.resize(sample);
  std::sort(episodes.begin(), episodes.end());
  return episodes;
}

std::string words_of(const log::End& end) {
  auto words = std::string(to_string(end.outcome));
  if (end.strict_passed == 1) words += ", strict";
  if (end.best_passed == 1 && end.passed == 0) words += ", best passed";
  if (end.best_strict_passed == 1 && end.strict_passed == 0) words += ", best strict";
  return words;
}

/// Why it did not pass: another cause of the same verdict changes no table of rates, but one of errors.
std::string reason_of(const log::End& end) {
  if (end.code == Code::none) return "no code";
  return end.line > 0 ? fmt::format("{} in line {}", to_string(end.code), end.line) : std::string(to_string(end.code));
}

/// The end that an episode's logged turns come to on this device. @throws Error{corrupt} where they do not come to one
log::End checked_anew(const jobs::Run& run, std::uint32_t index, const log::End& logged,
                      std::vector<log::LoggedTurn> history, device::Device& device) {
  if (history.size() != logged.turns) throw Error(ErrorCode::corrupt, "the log lacks turns of it");
  const auto& planned = run.plan.episodes[index];
  const auto id = run.plan.id_of(planned);
  const auto& cell = run.grid.cells[planned.cell];
  const auto* task = run.benchmark.find(id.task);
  const agent::EpisodeJob job{.id = {id, run.plan.key(planned.cell, planned.task), 1},
                              .grid = run.grid,
                              .model = run.grid.model(cell.model),
                              .mode = run.grid.mode(cell.mode),
                              .prompt = run.grid.prompt(cell.prompt),
                              .task = *task,
                              .history = std::move(history)};
  NoModel nobody(logged.ended_by);
  log::End end;
  const SystemClock clock;
  agent::run_episode(job, nobody, device,
                     [&](const log::Record& record) {
                       if (const auto* found = std::get_if<log::End>(&record)) end = *found;
                     },
                     clock, {});
  return end;
}

void compare_ends(const std::string& episode, const log::End& logged, const log::End& now, log::Audit& audit) {
  if (words_of(logged) != words_of(now))
    audit.disagreements.push_back({episode, words_of(logged), words_of(now)});
  else if (reason_of(logged) != reason_of(now))
    audit.other_reasons.push_back({episode, reason_of(logged), reason_of(now)});
}

/// Histories are read so many at a time: one pass over the log each.
constexpr std::size_t kAtOnce = 256;

log::Audit audit_run(const jobs::Run& run, const log::Ledger& ledger, const std::vector<std::uint32_t>& episodes,
                     device::Device& device) {
  log::Audit audit{.scored = ledger.scored(), .at = SystemClock().unix_seconds(), .compiler = device.compiler()};
  for (std::size_t from = 0; from < episodes.size(); from += kAtOnce) {
    const auto count = std::min(kAtOnce, episodes.size() - from);
    std::vector<log::HistoryKey> keys;
    for (std::size_t k = from; k < from + count; ++k) {
      const auto& planned = run.plan.episodes[episodes[k]];
      keys.push_back({run.plan.id_of(planned), run.plan.key(planned.cell, planned.task)});
    }
    auto histories = log::read_histories(log::log_of(run), keys);
    for (std::size_t k = 0; k < count; ++k) {
      const auto index = episodes[from + k];
      log::End now;
      try {
        now = checked_anew(run, index, *ledger.ends[index], std::move(histories[k]), device);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::corrupt) throw;
      }
      if (!is_scored(now.outcome)) {
        ++audit.unchecked;
        continue;
      }
      ++audit.checked;
      compare_ends(to_string(keys[k].episode), *ledger.ends[index], now, audit);
    }
  }
  return audit;
}

/// What an earlier audit found of episodes that this one did not look at is known still.
void keep_known(log::Audit& audit, const std::optional<log::Audit>& before, const std::set<std::string>& looked_at) {
  if (!before) return;
  const auto keep = [&](const std::vector<log::Disagreement>& known, std::vector<log::Disagreement>& kept) {
    std::copy_if(known.begin(), known.end(), std::back_inserter(kept),
                 [&](const auto& one) { return !looked_at.contains(one.episode); });
  };
  keep(before->disagreements, audit.disagreements);
  keep(before->other_reasons, audit.other_reasons);
}

nlohmann::ordered_json listed(const std::vector<log::Disagreement>& differ) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& one : differ) list.push_back({{"episode", one.episode}, {"logged", one.logged}, {"now", one.now}});
  return list;
}

void print(const log::Audit& audit, const AuditOptions& options) {
  if (options.json) {
    fmt::print("{}", json_text(nlohmann::ordered_json{{"version", 1},
                                                      {"scored", audit.scored},
                                                      {"checked", audit.checked},
                                                      {"unchecked", audit.unchecked},
                                                      {"disagreements", listed(audit.disagreements)},
                                                      {"other_reasons", listed(audit.other_reasons)}}));
    return;
  }
  if (options.quiet) return;
  for (const auto& one : audit.disagreements)
    say("{}: the log says {}, checked anew it is {}\n", one.episode, one.logged, one.now);
  for (const auto& one : audit.other_reasons)
    say("{}: the same verdict for another reason: the log says {}, checked anew it is {}\n", one.episode, one.logged,
        one.now);
  say("{} of {} scored episodes checked anew, {} verdicts differ, {} have another reason, {} could not be checked\n",
      audit.checked, audit.scored, audit.disagreements.size(), audit.other_reasons.size(), audit.unchecked);
}

ExitCode audit(const AuditOptions& options) {
  const auto run = jobs::load_run(options.run);
  jobs::require_secret(run);
  require_own_rights(run, jobs::UsedPart::device, options.trust, true);
  const auto paths = device::default_device_paths();
  // What forks does it before anything else of the run is looked at. Nobody is asked, and no child sees a key.
  model::take_environment_keys(run.grid.models);
  auto servers = device::start_servers(run.grid.device.backend, run.grid.check, paths, 1);
  const auto device =
      device::make_device(run.grid.device, run.grid.check, {run.grid.seed, run.secret}, std::move(servers), paths);
  const auto ledger = log::read_ledger(run);
  warn_of_log(run, ledger);
  const auto log = log::log_of(run);
  const auto episodes = drawn_episodes(ledger, options.sample);
  auto found = audit_run(run, ledger, episodes, *device);
  std::set<std::string> looked_at;
  for (const auto index : episodes) looked_at.insert(to_string(run.plan.id_of(run.plan.episodes[index])));
  keep_known(found, log::read_audit(run.folder, log.key), looked_at);
  log::write_audit(run.folder, log.key, found);
  print(found, options);
  if (!found.disagreements.empty())
    throw Error(ErrorCode::corrupt,
                fmt::format("{} logged verdicts of '{}' do not come again on this machine (another compiler or time "
                            "limit, or somebody changed the log); `nkigrid show RUN EPISODE` prints each",
                            found.disagreements.size(), options.run));
  return found.unchecked == 0 ? ExitCode::done : ExitCode::incomplete;
}

}  // namespace

Verb audit_verb() {
  return {"audit", "checks a run's logged kernels anew, on this machine, and compares the verdicts",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<AuditOptions>();
            app.add_option("run", options->run, "run folder")->required()->type_name("RUN");
            want_whole(app.add_option("--sample", options->sample, "so many, drawn at random (default: all)"), 1,
                       UINT32_MAX);
            add_trust_option(app, options->trust);
            app.add_flag("--json", options->json, "machine-readable, on stdout");
            app.add_flag("-q,--quiet", options->quiet, "exit code and RUN/audit.json only");
            return [options] { return audit(*options); };
          }};
}

}  // namespace nkigrid::cli
