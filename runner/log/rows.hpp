#pragma once

#include <cstdint>

#include "runner/log/records.hpp"

/// The rows of a segment and, in one list a group, their columns (docs/formats/segment.md): writer and reader
/// visit the same list. A visitor has column(name, value&), word_if(name, enum&, present), derived(name,
/// value) (written, never read: another column tells it), text(name, TextRef&) and has(version): whether a file has
/// what that version brought.
namespace nkigrid::log {

/// Where a text stands in /text.
struct TextRef {
  std::uint64_t offset = 0, length = 0;
};

/// An attempt of which the segment has something.
struct AttemptRow {
  Begin begin;            ///< its id alone when the begin is elsewhere
  std::uint64_t seq = 0;  ///< 0: the begin is not here
};

/// A reply and, when `answered`, its turn. Texts are held apart.
struct TurnRow {
  Reply reply;  ///< its id comes back from the attempts' rows
  Turn turn;
  std::uint32_t attempt_row = 0;
  bool answered = false;
  std::uint64_t reply_seq = 0, turn_seq = 0;  ///< 0: there is none
  TextRef request, reply_text, raw, kernel, tool_output;
};

struct EpisodeRow {
  End end;
  std::uint64_t seq = 0;
  bool superseded = false;
  TextRef reason, findings;
};

template <class Visitor>
void columns(AttemptRow& row, Visitor& v) {
  auto& r = row.begin;
  v.column("episode", r.id.episode);
  v.column("key", r.id.key);
  v.column("attempt", r.id.attempt);
  v.column("inherited_turns", r.inherited_turns);
  v.column("node", r.node);
  v.column("rank", r.rank);
  v.column("started", r.started);
  v.column("begin_seq", row.seq);
}

template <class Visitor>
void columns(TurnRow& row, Visitor& v) {
  auto& [reply, turn, attempt_row, answered, reply_seq, turn_seq, request, reply_text, raw, kernel, tool_output] = row;
  v.derived("episode", reply.id.episode);
  v.derived("key", reply.id.key);
  v.derived("attempt", reply.id.attempt);
  v.column("attempt_row", attempt_row);
  v.column("turn", reply.turn);
  v.column("answered", answered);
  v.word_if("event", turn.event, answered);
  v.column("nudged", turn.nudged);
  v.column("flags", turn.flags);
  v.column("tool_calls", turn.tool_calls);
  v.column("compile_ok", turn.compile_ok);
  v.column("verify_ok", turn.verify_ok);
  v.column("stage", turn.stage);
  v.column("code", turn.code);
  v.derived("group", group_of(turn.code));
  v.column("line", turn.line);
  v.column("llm_s", reply.llm_s);
  v.column("wait_s", reply.wait_s);
  v.column("compile_s", turn.compile_s);
  v.column("verify_s", turn.verify_s);
  v.column("tokens_in", reply.tokens_in);
  v.column("tokens_out", reply.tokens_out);
  v.column("tokens_cached", reply.tokens_cached);
  v.column("cost_usd", reply.cost_usd);
  v.column("api_retries", reply.api_retries);
  v.column("max_abs_err", turn.max_abs_err);
  v.column("rel_l2", turn.rel_l2);
  v.column("estimate_us", turn.estimate_us);
  v.column("reply_seq", reply_seq);
  v.column("turn_seq", turn_seq);
  v.text("request", request);
  v.text("reply", reply_text);
  v.text("raw", raw);
  v.text("kernel", kernel);
  v.text("tool_output", tool_output);
}

template <class Visitor>
void columns(EpisodeRow& row, Visitor& v) {
  auto& r = row.end;
  v.column("episode", r.id.episode);
  v.column("key", r.id.key);
  v.derived("cell", r.id.episode.cell);
  v.derived("task", r.id.episode.task);
  v.column("level", r.level);
  v.column("category", r.category);
  v.derived("replicate", r.id.episode.replicate);
  v.column("attempt", r.id.attempt);
  v.column("inherited_turns", r.inherited_turns);
  v.column("superseded", row.superseded);
  v.column("outcome", r.outcome);
  v.column("ended_by", r.ended_by);
  v.column("nudged", r.nudged);
  v.column("passed", r.passed);
  v.column("strict_passed", r.strict_passed);
  v.column("best_passed", r.best_passed);
  v.column("best_strict_passed", r.best_strict_passed);
  v.column("stage", r.stage);
  v.column("code", r.code);
  v.derived("group", group_of(r.code));
  v.column("line", r.line);
  v.column("max_abs_err", r.max_abs_err);
  v.column("rel_l2", r.rel_l2);
  v.column("turns", r.turns);
  v.column("started", r.started);
  v.column("seconds", r.seconds);
  v.column("tokens_in", r.tokens_in);
  v.column("tokens_out", r.tokens_out);
  v.column("tokens_cached", r.tokens_cached);
  v.column("cost_usd", r.cost_usd);
  v.column("api_retries", r.api_retries);
  v.column("estimate_us", r.estimate_us);
  v.column("node", r.node);
  v.column("rank", r.rank);
  v.column("synthetic", r.synthetic);
  v.column("end_seq", row.seq);
  v.text("reason", row.reason);
  if (!v.has(3)) return;
  v.column("trials", r.trials);
  v.column("trials_passed", r.trials_passed);
  v.text("findings", row.findings);
}

}  // namespace nkigrid::log
