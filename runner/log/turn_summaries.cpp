#include "runner/log/turn_summaries.hpp"

#include <map>
#include <utility>
#include <vector>

#include "runner/log/columns.hpp"
#include "runner/log/contradiction.hpp"
#include "runner/log/folder.hpp"
#include "runner/log/plan_index.hpp"
#include "runner/log/segment_table.hpp"
#include "runner/log/walk.hpp"

namespace nkigrid::log {
namespace {

/// Columns of /attempts and /turns, as few as will do.
struct AttemptColumns {
  AttemptId id;
};
template <class Visitor>
void columns(AttemptColumns& row, Visitor& v) {
  v.column("episode", row.id.episode);
  v.column("key", row.id.key);
  v.column("attempt", row.id.attempt);
}

struct TurnColumns {
  std::uint32_t attempt_row = 0;
  TurnSummary turn;
};
template <class Visitor>
void columns(TurnColumns& row, Visitor& v) {
  auto& t = row.turn;
  v.column("attempt_row", row.attempt_row);
  v.column("turn", t.turn);
  v.column("answered", t.answered);
  v.column("code", t.code);
  v.column("compile_ok", t.compile_ok);
  v.column("verify_ok", t.verify_ok);
  v.column("tokens_in", t.tokens_in);
  v.column("tokens_out", t.tokens_out);
  v.column("cost_usd", t.cost_usd);
  v.column("llm_s", t.llm_s);
  v.column("flags", t.flags);
}

class Summaries {
 public:
  Summaries(const jobs::Plan& plan, const std::function<void(const TurnSummary&)>& visit)
      : index_(plan), visit_(visit) {}

  void read_part(const OpenSegment& segment, LogWalk& walk) {
    segment.read([&](const h5::File& opened) {
      read_attempts(opened, walk);
      SegmentTable<TurnColumns> table(opened, "turns");
      TurnColumns row;
      for (std::uint64_t i = 0; i < table.rows(); ++i) {
        table.read(i, row);
        if (row.attempt_row >= attempts_.size()) throw_no_attempt(i, row.attempt_row);
        const auto found = contradiction(row.turn.compile_ok, row.turn.verify_ok, row.turn.code);
        if (!found.empty()) throw_contradiction(i, found);
        const auto& attempt = attempts_[row.attempt_row];
        if (attempt.episode == PlanIndex::kUnplanned) continue;
        row.turn.episode = attempt.episode;
        row.turn.attempt = attempt.attempt;
        visit_(row.turn);
      }
    });
  }

  /// Of a journal: a turn's numbers come in two records.
  void add(const Record& record) {
    if (const auto* reply = std::get_if<Reply>(&record)) {
      open_[{reply->id, reply->turn}] = {reply->tokens_in, reply->tokens_out, reply->cost_usd, reply->llm_s};
    } else if (const auto* turn = std::get_if<Turn>(&record)) {
      const auto open = open_.find({turn->id, turn->turn});
      TurnSummary summary = open != open_.end() ? of(open->second) : TurnSummary{};
      if (open != open_.end()) open_.erase(open);
      summary.answered = true;
      summary.code = turn->code;
      summary.flags = turn->flags;
      summary.compile_ok = turn->compile_ok;
      summary.verify_ok = turn->verify_ok;
      tell(turn->id, turn->turn, summary);
    }
  }

  void end_journal() {
    for (const auto& [key, reply] : open_) tell(key.first, key.second, of(reply));
    open_.clear();
  }

 private:
  struct Attempt {
    std::uint32_t episode, attempt;
  };
  struct ReplyCost {
    std::uint32_t tokens_in, tokens_out;
    double cost_usd, llm_s;
  };
  static TurnSummary of(const ReplyCost& reply) {
    TurnSummary summary;
    summary.tokens_in = reply.tokens_in, summary.tokens_out = reply.tokens_out;
    summary.cost_usd = reply.cost_usd, summary.llm_s = reply.llm_s;
    return summary;
  }

  void read_attempts(const h5::File& file, LogWalk& walk) {
    SegmentTable<AttemptColumns> table(file, "attempts");
    AttemptColumns row;
    attempts_.clear();
    for (std::uint64_t i = 0; i < table.rows(); ++i) {
      table.read(i, row);
      const auto episode = index_.find(row.id);
      const bool counts = episode != PlanIndex::kUnplanned && walk.admits(row.id);
      attempts_.push_back({counts ? episode : PlanIndex::kUnplanned, row.id.attempt});
    }
  }

  void tell(const AttemptId& id, std::uint32_t turn, TurnSummary summary) {
    summary.episode = index_.find(id);
    if (summary.episode == PlanIndex::kUnplanned) return;
    summary.attempt = id.attempt;
    summary.turn = turn;
    visit_(summary);
  }

  PlanIndex index_;
  const std::function<void(const TurnSummary&)>& visit_;
  std::vector<Attempt> attempts_;
  std::map<std::pair<AttemptId, std::uint32_t>, ReplyCost> open_;
};

}  // namespace

void read_turn_summaries(const jobs::Plan& plan, const RunLog& log,
                         const std::function<void(const TurnSummary&)>& visit) {
  Summaries summaries(plan, visit);
  const Selection selection{.with_texts = false, .begins = false, .ends = false};
  LogWalk walk(log, refuse_the_unclear);
  const LogWalk::Visitor visitor{[&](const OpenSegment& segment) { summaries.read_part(segment, walk); },
                                 [&](Record&& record) { summaries.add(record); }};
  for (const auto& stem : stems_of(log.folder)) {
    walk.read(stem, selection, visitor);
    summaries.end_journal();
  }
}

}  // namespace nkigrid::log
