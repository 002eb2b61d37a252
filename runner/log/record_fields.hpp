#pragma once

#include <type_traits>

#include "runner/log/records.hpp"

/// The one list of what a journal's records hold, for writer and reader; numbers are the file's
/// (docs/formats/journal.md). A visitor has field(number, value) and text(number, string); texts may be left
/// unread.
namespace nkigrid::log {

template <class Id, class Visitor>
void id_fields(Id& id, Visitor& v) {
  v.field(1, id.episode.cell);
  v.field(2, id.episode.task);
  v.field(3, id.episode.replicate);
  v.field(4, id.key);
  v.field(5, id.attempt);
}

template <class Visitor, class Header>
requires std::is_same_v<std::remove_const_t<Header>, LogHeader>
void fields(Header& h, Visitor& v) {
  v.field(10, h.grid_hash);
  v.field(11, h.run_id);
  v.field(12, h.nkigrid_version);
  v.field(13, h.sdk);
  v.field(14, h.backend);
  v.field(15, h.compiler);
  v.field(16, h.host);
  v.field(17, h.journal);
}

template <class Visitor, class R>
requires std::is_same_v<std::remove_const_t<R>, Begin>
void fields(R& r, Visitor& v) {
  id_fields(r.id, v);
  v.field(10, r.inherited_turns);
  v.field(11, r.node);
  v.field(12, r.rank);
  v.field(13, r.started);
}

template <class Visitor, class R>
requires std::is_same_v<std::remove_const_t<R>, Reply>
void fields(R& r, Visitor& v) {
  id_fields(r.id, v);
  v.field(10, r.turn);
  v.text(11, r.request);
  v.text(12, r.reply);
  v.text(13, r.raw);
  v.field(14, r.llm_s);
  v.field(15, r.wait_s);
  v.field(16, r.tokens_in);
  v.field(17, r.tokens_out);
  v.field(18, r.tokens_cached);
  v.field(19, r.api_retries);
  v.field(20, r.cost_usd);
}

template <class Visitor, class R>
requires std::is_same_v<std::remove_const_t<R>, Turn>
void fields(R& r, Visitor& v) {
  id_fields(r.id, v);
  v.field(10, r.turn);
  v.field(11, r.event);
  v.field(12, r.nudged);
  v.field(13, r.flags);
  v.field(14, r.tool_calls);
  v.field(15, r.compile_ok);
  v.field(16, r.verify_ok);
  v.field(17, r.stage);
  v.field(18, r.code);
  v.field(19, r.line);
  v.field(20, r.compile_s);
  v.field(21, r.verify_s);
  v.field(22, r.max_abs_err);
  v.field(23, r.rel_l2);
  v.field(24, r.estimate_us);
  v.text(25, r.kernel);
  v.text(26, r.tool_output);
}

template <class Visitor, class R>
requires std::is_same_v<std::remove_const_t<R>, End>
void fields(R& r, Visitor& v) {
  id_fields(r.id, v);
  v.field(10, r.level);
  v.field(11, r.category);
  v.field(12, r.inherited_turns);
  v.field(13, r.outcome);
  v.field(14, r.ended_by);
  v.text(15, r.reason);
  v.field(16, r.nudged);
  v.field(17, r.passed);
  v.field(18, r.strict_passed);
  v.field(19, r.best_passed);
  v.field(20, r.best_strict_passed);
  v.field(21, r.stage);
  v.field(22, r.code);
  v.field(23, r.line);
  v.field(24, r.max_abs_err);
  v.field(25, r.rel_l2);
  v.field(26, r.turns);
  v.field(27, r.started);
  v.field(28, r.seconds);
  v.field(29, r.tokens_in);
  v.field(30, r.tokens_out);
  v.field(31, r.tokens_cached);
  v.field(32, r.cost_usd);
  v.field(33, r.api_retries);
  v.field(34, r.estimate_us);
  v.field(35, r.node);
  v.field(36, r.rank);
  v.field(37, r.synthetic);
  v.text(38, r.findings);
  v.field(39, r.trials);
  v.field(40, r.trials_passed);
}

}  // namespace nkigrid::log
