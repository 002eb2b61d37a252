#include "cli/export_rows.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/findings.hpp"
#include "cli/reward_columns.hpp"
#include "runner/log/plan_index.hpp"
#include "runner/log/reader.hpp"
#include "runner/log/turn_parts.hpp"

namespace nkigrid::cli {
namespace {

/// The columns that say which episode a row is of.
void put_episode(RowWriter& rows, const jobs::Plan& plan, const jobs::PlannedEpisode& episode) {
  const auto& cell = plan.cells[episode.cell];
  const auto& task = plan.tasks[episode.task];
  rows.text("episode", to_string(plan.id_of(episode))).text("key", plan.key(episode.cell, episode.task));
  rows.text("cell", cell.id).text("model", cell.model).text("mode", cell.mode).text("prompt", cell.prompt);
  rows.text("task", task.id)
      .text("level", task.level)
      .text("category", task.category)
      .count("replicate", episode.replicate);
}

/// Fields of what may be absent: then the columns are there and empty.
struct Fields {
  RowWriter& rows;
  bool present;

  void word(const char* name, std::string_view value) { present ? rows.text(name, value) : rows.absent(name); }
  void real(const char* name, double value) { present ? rows.number(name, value) : rows.absent(name); }
  void count(const char* name, std::uint64_t value) { present ? rows.count(name, value) : rows.absent(name); }
  void flag(const char* name, int value) { rows.flag(name, present ? value : -1); }
};

/// An attempt's row, or the absence of one.
void put_end(RowWriter& rows, const log::End* end, const std::string& findings_json) {
  Fields put{rows, end != nullptr};
  const log::End none;
  const auto& e = end != nullptr ? *end : none;
  put.count("attempt", e.id.attempt);
  put.count("inherited_turns", e.inherited_turns);
  put.word("outcome", to_string(e.outcome)), put.word("ended_by", to_string(e.ended_by));
  put.flag("nudged", e.nudged), put.flag("passed", e.passed), put.flag("strict_passed", e.strict_passed);
  put.flag("best_passed", e.best_passed), put.flag("best_strict_passed", e.best_strict_passed);
  put.word("stage", to_string(e.stage)), put.word("code", to_string(e.code)), put.word("group", group_of(e.code));
  put.count("line", e.line);
  put.real("max_abs_err", e.max_abs_err), put.real("rel_l2", e.rel_l2);
  put.count("turns", e.turns);
  put.real("started", e.started), put.real("seconds", e.seconds);
  put.count("tokens_in", e.tokens_in), put.count("tokens_out", e.tokens_out);
  put.count("tokens_cached", e.tokens_cached);
  put.real("cost_usd", e.cost_usd);
  put.count("api_retries", e.api_retries);
  put.real("estimate_us", e.estimate_us);
  put.word("node", e.node);
  put.count("rank", e.rank);
  put.flag("synthetic", e.synthetic);
  put.count("trials", e.trials), put.count("trials_passed", e.trials_passed);
  const auto findings = parse_findings(findings_json);
  put.word("message", findings.message), put.word("hints", findings.hints);
  put.word("first", findings.first), put.word("worst", findings.worst);
}

/// Which of the plan's episodes stand among some places.
std::vector<bool> chosen_among(const jobs::Plan& plan, std::span<const std::uint32_t> places) {
  std::vector<bool> chosen(plan.episodes.size(), false);
  for (const auto place : places) chosen[place] = true;
  return chosen;
}

/// What the final checks of the counted attempts found, parallel to the plan's episodes.
std::vector<std::string> read_findings(const jobs::Run& run, const log::Ledger& ledger) {
  std::vector<std::string> findings(run.plan.episodes.size());
  const log::PlanIndex index(run.plan);
  log::LogVisitor visitor;
  visitor.end = [&](const log::End& end) {
    const auto place = index.find(end.id);
    if (place != log::PlanIndex::kUnplanned && ledger.states[place].counted_attempt == end.id.attempt)
      findings[place] = end.findings;
  };
  log::read_log(log::log_of(run), log::Texts::load, visitor);
  return findings;
}

}  // namespace

void export_episodes(RowWriter& rows, const jobs::Run& run, const log::Ledger& ledger,
                     std::span<const std::uint32_t> places) {
  const auto& plan = run.plan;
  const auto findings = read_findings(run, ledger);
  const RewardColumns rewards(run);
  for (const auto i : places) {
    const auto& state = ledger.states[i];
    put_episode(rows, plan, plan.episodes[i]);
    rows.flag("counted", state.is_scored()).count("attempts", state.attempts);
    if (state.is_scored())
      rows.absent("outstanding");
    else
      rows.text("outstanding", to_string(state.outstanding));
    const auto* end = ledger.ends[i] ? &*ledger.ends[i] : nullptr;
    put_end(rows, end, findings[i]);
    rewards.put(rows, plan.episodes[i].task, end, findings[i]);
    rows.end_row();
  }
}

void export_attempts(RowWriter& rows, const jobs::Run& run, const log::Ledger& ledger,
                     std::span<const std::uint32_t> places) {
  const auto chosen = chosen_among(run.plan, places);
  const log::PlanIndex index(run.plan);
  const RewardColumns rewards(run);
  log::LogVisitor visitor;
  visitor.end = [&](const log::End& end) {
    const auto place = index.find(end.id);
    if (place == log::PlanIndex::kUnplanned || !chosen[place]) return;
    put_episode(rows, run.plan, run.plan.episodes[place]);
    rows.flag("counted", ledger.states[place].counted_attempt == end.id.attempt);
    put_end(rows, &end, end.findings);
    rewards.put(rows, run.plan.episodes[place].task, &end, end.findings);
    rows.text("reason", end.reason).end_row();
  };
  log::read_log(log::log_of(run), log::Texts::load, visitor);
}

namespace {

/// One row a turn of every attempt of a planned episode, joined from its reply and its turn record, in the order of the
/// log's files. A reply that a later attempt took over stands with that one alone: nobody pays for it twice. Memory
/// holds the replies that wait for their turn: in a segment none, in a journal one a lane.
class TurnExport {
 public:
  TurnExport(RowWriter& rows, const jobs::Plan& plan, log::TurnParts parts, std::vector<bool> chosen, bool texts)
      : rows_(rows), plan_(plan), parts_(std::move(parts)), chosen_(std::move(chosen)), texts_(texts), index_(plan) {}

  void add(const log::Reply& reply) { replies_.insert_or_assign({reply.id, reply.turn}, reply); }

  void add(const log::Turn& turn) {
    const auto reply = replies_.find({turn.id, turn.turn});
    put(reply != replies_.end() ? reply->second : log::Reply{.id = turn.id, .turn = turn.turn}, &turn);
    if (reply != replies_.end()) replies_.erase(reply);
  }

  /// Replies whose tools never answered.
  void finish() {
    for (const auto& [key, reply] : replies_) put(reply, nullptr);
  }

 private:
  void put(const log::Reply& reply, const log::Turn* turn) {
    const auto place = index_.find(reply.id);
    if (place == log::PlanIndex::kUnplanned || !chosen_[place]) return;
    const auto part = parts_.of(place, reply.id.attempt, reply.turn);
    if (part == log::TurnPart::repeated) return;
    put_episode(rows_, plan_, plan_.episodes[place]);
    rows_.count("attempt", reply.id.attempt);
    rows_.flag("counted", part == log::TurnPart::counted);
    rows_.count("turn", reply.turn).flag("answered", turn != nullptr);
    put_checks(turn);
    rows_.number("llm_s", reply.llm_s).number("wait_s", reply.wait_s);
    rows_.count("tokens_in", reply.tokens_in)
        .count("tokens_out", reply.tokens_out)
        .count("tokens_cached", reply.tokens_cached);
    rows_.count("api_retries", reply.api_retries).number("cost_usd", reply.cost_usd);
    if (texts_) put_texts(reply, turn);
    rows_.end_row();
  }

  void put_checks(const log::Turn* turn) {
    Fields put{rows_, turn != nullptr};
    const log::Turn none;
    const auto& t = turn != nullptr ? *turn : none;
    put.word("event", to_string(t.event));
    put.flag("nudged", t.nudged);
    put.word("flags", t.flags);
    put.count("tool_calls", t.tool_calls);
    put.flag("compile_ok", t.compile_ok), put.flag("verify_ok", t.verify_ok);
    put.word("stage", to_string(t.stage)), put.word("code", to_string(t.code)), put.word("group", group_of(t.code));
    put.count("line", t.line);
    put.real("compile_s", t.compile_s), put.real("verify_s", t.verify_s);
    put.real("max_abs_err", t.max_abs_err), put.real("rel_l2", t.rel_l2), put.real("estimate_us", t.estimate_us);
  }

  void put_texts(const log::Reply& reply, const log::Turn* turn) {
    rows_.text("request", reply.request).text("reply", reply.reply);
    Fields put{rows_, turn != nullptr};
    put.word("kernel", turn != nullptr ? turn->kernel : "");
    put.word("tool_output", turn != nullptr ? turn->tool_output : "");
  }

  RowWriter& rows_;
  const jobs::Plan& plan_;
  log::TurnParts parts_;
  std::vector<bool> chosen_;
  bool texts_;
  log::PlanIndex index_;
  std::map<std::pair<log::AttemptId, std::uint32_t>, log::Reply> replies_;
};

}  // namespace

void export_turns(RowWriter& rows, const jobs::Run& run, const log::Ledger& ledger,
                  std::span<const std::uint32_t> places, bool texts) {
  TurnExport turns(rows, run.plan, {run.plan, log::log_of(run), ledger}, chosen_among(run.plan, places), texts);
  log::LogVisitor visitor;
  visitor.reply = [&](const log::Reply& reply) { turns.add(reply); };
  visitor.turn = [&](const log::Turn& turn) { turns.add(turn); };
  log::read_log(log::log_of(run), texts ? log::Texts::load : log::Texts::skip, visitor);
  turns.finish();
}

}  // namespace nkigrid::cli
