#include "runner/log/ledger.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>

#include "runner/log/audit.hpp"
#include "runner/log/node_blame.hpp"
#include "runner/log/plan_index.hpp"
#include "runner/log/reader.hpp"
#include "runner/log/refusals.hpp"

namespace nkigrid::log {
namespace {

/// One attempt that ended without a score.
struct Failure {
  std::uint32_t attempt = 0;
  Outcome outcome = Outcome::killed;
  std::string node;
};

/// The end of an attempt that says something of a node.
struct OnNode {
  const std::string* node;
  NodeBlame::Seen seen;
};

/// Tells them in the order of their ends, of those at one time the scores last: they vouch for what failed till then.
NodeBlame blame(std::vector<OnNode> ends) {
  std::stable_sort(ends.begin(), ends.end(), [](const OnNode& a, const OnNode& b) {
    return std::pair(a.seen.ended, a.seen.on_device) < std::pair(b.seen.ended, b.seen.on_device);
  });
  NodeBlame blame;
  for (const auto& end : ends) blame.see(*end.node, end.seen);
  return blame;
}

Outstanding reason_of(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::api_error:
      return Outstanding::api_error;
    case Outcome::verifier_error:
      return Outstanding::verifier_error;
    case Outcome::device_error:
      return Outstanding::device_error;
    default:
      return Outstanding::killed;
  }
}

class Folder {
 public:
  Folder(const jobs::Plan& plan, Ledger& ledger) : index_(plan), plan_(plan), ledger_(ledger) {
    ledger.states.resize(plan.episodes.size());
    ledger.ends.resize(plan.episodes.size());
  }

  void add(const Begin& begin) {
    const auto i = index_.find(begin.id);
    if (i == PlanIndex::kUnplanned) return;
    auto& state = ledger_.states[i];
    if (begin.id.attempt > state.attempts || state.last_node.empty()) state.last_node = begin.node;
    state.attempts = std::max(state.attempts, begin.id.attempt);
  }

  void add(const End& end) {
    const auto i = index_.find(end.id);
    if (i == PlanIndex::kUnplanned) {
      ++ledger_.ignored_rows;
      return;
    }
    auto& state = ledger_.states[i];
    state.attempts = std::max(state.attempts, end.id.attempt);
    const bool is_new = is_scored(end.outcome) || add_failure(i, end);
    if (is_new) {
      count_on_node(i, end);
      state.spent_usd += end.cost_usd;
      state.spent_tokens += std::uint64_t{end.tokens_in} + end.tokens_out;
    }
    if (!is_scored(end.outcome)) {
      return;
    } else if (end.id.attempt > state.counted_attempt) {
      state.counted_attempt = end.id.attempt;
      ledger_.ends[i] = end;
      forget_names(*ledger_.ends[i]);
    } else if (end.id.attempt == state.counted_attempt && end.outcome != ledger_.ends[i]->outcome) {
      ledger_.warnings.push_back(fmt::format("attempt {} of {} ended twice, {} and {}; the first one read counts",
                                             end.id.attempt, to_string(end.id.episode),
                                             to_string(ledger_.ends[i]->outcome), to_string(end.outcome)));
    }
  }

  void settle(std::uint32_t infra_retries, const LiveShards& live) {
    const auto blamed = blame(std::exchange(on_nodes_, {}));
    for (const auto& [node, tally] : blamed.nodes()) ledger_.nodes[node] = tally;
    for (std::uint32_t i = 0; i < ledger_.states.size(); ++i)
      settle(i, blamed, infra_retries, live.contains(plan_.episodes[i].shard));
  }

 private:
  /// The plan tells them; 10^6 rows that repeat them are half a gigabyte.
  static void forget_names(End& end) {
    end.id.episode = {};
    end.id.key = end.level = end.category = end.reason = end.findings = {};
  }

  /// A takeover's row says nothing of the node.
  void count_on_node(std::uint32_t i, const End& end) {
    if (end.outcome == Outcome::killed) return;
    const auto& [node, tally] = *ledger_.nodes.try_emplace(end.node).first;
    const bool on_device = was_on_device(end);
    if (on_device || is_of_node(end.outcome))
      on_nodes_.push_back({&node, {i, end.outcome, on_device, end.started, end.started + end.seconds}});
  }

  /// @returns false when it was read before
  bool add_failure(std::uint32_t i, const End& end) {
    auto& failures = failures_[i];
    const bool known =
        std::any_of(failures.begin(), failures.end(), [&](const auto& f) { return f.attempt == end.id.attempt; });
    if (!known) failures.push_back({end.id.attempt, end.outcome, end.node});
    return !known;
  }

  void settle(std::uint32_t i, const NodeBlame& blamed, std::uint32_t infra_retries, bool live) {
    auto& state = ledger_.states[i];
    state.infra_failures = blamed.counted(i);
    state.suspect = blamed.is_suspect(i);
    const Failure* newest = nullptr;
    if (const auto found = failures_.find(i); found != failures_.end()) {
      for (const auto& failure : found->second) {
        if (newest == nullptr || failure.attempt > newest->attempt) newest = &failure;
        if (failure.outcome == Outcome::api_error) ++state.infra_failures;
      }
    }
    const bool newest_failed = newest != nullptr && newest->attempt == state.attempts;
    state.unfinished = state.attempts > 0 && !newest_failed && state.counted_attempt != state.attempts;
    if (newest != nullptr) {
      state.last_failure = reason_of(newest->outcome);
      if (!state.unfinished) state.last_node = newest->node;
    }
    if (state.is_scored())
      state.outstanding = Outstanding::none;
    else if (state.attempts == 0)
      state.outstanding = Outstanding::pending;
    else if (state.unfinished && live)
      state.outstanding = Outstanding::running;
    else if (is_parked(state.infra_failures - (blamed.is_in_doubt(i) ? blamed.counted(i) : 0), infra_retries))
      state.outstanding = Outstanding::parked;
    else
      state.outstanding = newest_failed ? state.last_failure : Outstanding::killed;
  }

  PlanIndex index_;
  const jobs::Plan& plan_;
  Ledger& ledger_;
  std::vector<OnNode> on_nodes_;
  std::unordered_map<std::uint32_t, std::vector<Failure>> failures_;
};

/// Whether a file's writer judged kernels: one without a host has copied turns of another run (`reverify`).
bool is_of_judge(const LogHeader& head) { return !head.nkigrid_version.empty() && !head.host.empty(); }

/// A rate is the paper's only by the paper's rule. @source CheckSpec's defaults @returns "" where none is laxer
std::string laxer_rule(const jobs::CheckSpec& check) {
  const jobs::CheckSpec rule;
  std::vector<std::string> laxer;
  if (check.atol > rule.atol) laxer.push_back(fmt::format("atol {} for {}", check.atol, rule.atol));
  if (check.rtol > rule.rtol) laxer.push_back(fmt::format("rtol {} for {}", check.rtol, rule.rtol));
  if (check.trials < rule.trials) laxer.push_back(fmt::format("{} trials for {}", check.trials, rule.trials));
  return laxer.empty() ? "" : fmt::format("passes are by a laxer rule than the paper's: {}", fmt::join(laxer, ", "));
}

/// Whether anybody could have put verdicts into the log, and whether anybody has looked.
std::vector<std::string> trust_in(const jobs::Run& run, std::uint64_t scored) {
  const SealKey key(run.log_key);
  std::vector<std::string> words;
  if (const auto laxer = laxer_rule(run.grid.check); !laxer.empty()) words.push_back(laxer);
  if (!key) words.push_back(jobs::unverified_words(run.lost_log_key));
  const auto audit = read_audit(run.folder, key);
  if (!audit)
    words.emplace_back("the log was never audited (`nkigrid audit` checks its kernels anew)");
  else if (!audit->disagreements.empty())
    words.push_back(fmt::format("an audit checked {} logged verdicts anew, and {} did not come again", audit->checked,
                                audit->disagreements.size()));
  else if (audit->checked < scored)
    words.push_back(
        fmt::format("an audit checked {} of {} logged verdicts anew, and all came again", audit->checked, scored));
  return words;
}

}  // namespace

std::string_view to_string(Outstanding reason) noexcept {
  constexpr std::array<std::string_view, 8> names = {"none",      "pending",        "running",      "killed",
                                                     "api_error", "verifier_error", "device_error", "parked"};
  return names[static_cast<std::size_t>(reason)];
}

bool was_on_device(const End& end) noexcept {
  switch (end.outcome) {
    case Outcome::pass:
    case Outcome::run_fail:
    case Outcome::mismatch:
    case Outcome::compile_timeout:
      return true;
    case Outcome::compile_fail:
      return end.stage != Stage::parse;
    case Outcome::cheat:
      return end.trials > 0;
    default:
      return false;
  }
}

std::uint64_t Ledger::scored() const noexcept {
  return static_cast<std::uint64_t>(
      std::count_if(states.begin(), states.end(), [](const auto& state) { return state.is_scored(); }));
}

std::vector<std::uint32_t> Ledger::to_run(bool with_parked) const {
  std::vector<std::uint32_t> episodes;
  for (std::uint32_t i = 0; i < states.size(); ++i) {
    if (states[i].is_to_run(with_parked)) episodes.push_back(i);
  }
  return episodes;
}

std::vector<std::uint32_t> Ledger::shards_to_run(const jobs::Plan& plan, bool with_parked) const {
  std::set<std::uint32_t> shards;
  for (const auto episode : to_run(with_parked)) shards.insert(plan.episodes[episode].shard);
  return {shards.begin(), shards.end()};
}

std::string Ledger::build_warning() const {
  if (builds.size() < 2) return {};
  std::string list;
  for (const auto& [build, nodes] : builds)
    list += fmt::format("{}{} on {}", list.empty() ? "" : ", ", build, fmt::join(nodes, " "));
  return fmt::format(
      "{} builds of nkigrid wrote this log ({}); they may judge differently: install one everywhere, and "
      "compare before you trust a difference",
      builds.size(), list);
}

std::vector<std::string> Ledger::bad_nodes() const {
  std::vector<std::string> bad;
  for (const auto& [name, node] : nodes) {
    if (eats_episodes(node)) bad.push_back(name);
  }
  return bad;
}

std::vector<std::string> Ledger::outdone_nodes() const {
  auto bad = bad_nodes();
  return bad.size() < nodes.size() ? bad : std::vector<std::string>{};
}

Ledger fold_log(const jobs::Plan& plan, std::uint32_t infra_retries, const RunLog& log, const LiveShards& live) {
  Ledger ledger;
  Folder folder(plan, ledger);
  LogVisitor visitor;
  visitor.begin = [&](const Begin& begin) { folder.add(begin); };
  visitor.end = [&](const End& end) { folder.add(end); };
  visitor.head = [&](const LogHeader& head) {
    if (is_of_judge(head)) ledger.builds[head.nkigrid_version].insert(head.host);
  };
  visitor.warning = [&](const std::string& warning) { ledger.warnings.push_back(warning); };
  visitor.left_out = [&](const LeftOut& file) {
    if (file.why == LeftOut::Why::foreign) ++ledger.foreign_files;
    if (file.why == LeftOut::Why::unproven) ++ledger.unproven_files;
    if (file.why == LeftOut::Why::copy) ++ledger.copied_files;
    ledger.warnings.push_back(file.text());
  };
  read_log(log, Texts::skip, visitor);
  folder.settle(infra_retries, live);
  for (auto& [node, reason] : read_refusals(log.folder)) ledger.nodes[node].refused = std::move(reason);
  return ledger;
}

Ledger read_ledger(const jobs::Run& run) {
  auto ledger = fold_log(run.plan, run.grid.infra_retries, log_of(run), live_shards(run.log_folder()));
  ledger.trust = trust_in(run, ledger.scored());
  return ledger;
}

}  // namespace nkigrid::log
