#include "runner/log/history.hpp"

#include <map>
#include <optional>
#include <utility>

#include "runner/log/walk.hpp"

namespace nkigrid::log {
namespace {

/// What one attempt left: its own replies and turns by number.
struct Attempt {
  std::uint32_t inherited = 0;
  bool begun = false;  ///< the begin was read: it knows best what was inherited
  std::map<std::uint32_t, Reply> replies;
  std::map<std::uint32_t, Turn> turns;
};
using Attempts = std::map<std::uint32_t, Attempt>;

struct Collector {
  Attempts& attempts;
  void operator()(Begin&& begin) {
    auto& attempt = attempts[begin.id.attempt];
    attempt.begun = true;
    attempt.inherited = begin.inherited_turns;
  }
  void operator()(Reply&& reply) {
    auto& replies = attempts[reply.id.attempt].replies;
    const auto turn = reply.turn;
    replies[turn] = std::move(reply);
  }
  void operator()(Turn&& turn) {
    auto& turns = attempts[turn.id.attempt].turns;
    const auto number = turn.turn;
    turns[number] = std::move(turn);
  }
  void operator()(End&& end) {
    auto& attempt = attempts[end.id.attempt];
    if (!attempt.begun) attempt.inherited = end.inherited_turns;  // damage took the begin
  }
};

/// Continues `history`, which holds turns 1..n, with what an attempt did itself, up to the first gap.
void add_own(std::vector<LoggedTurn>& history, const Attempt& attempt) {
  for (auto number = static_cast<std::uint32_t>(history.size()) + 1;; ++number) {
    const auto reply = attempt.replies.find(number);
    if (reply == attempt.replies.end()) return;
    auto& logged = history.emplace_back(LoggedTurn{reply->second, std::nullopt, reply->second.id.attempt});
    const auto turn = attempt.turns.find(number);
    if (turn == attempt.turns.end()) return;
    logged.turn = turn->second;
  }
}

/// Oldest attempt first: each keeps of its predecessors' turns what it inherited and adds its own. One that
/// died before its first own reply leaves its predecessor's history whole, unanswered reply included: that
/// reply is paid for.
std::vector<LoggedTurn> chain(const Attempts& attempts) {
  std::vector<LoggedTurn> history;
  for (const auto& [number, attempt] : attempts) {
    if (!attempt.replies.contains(attempt.inherited + 1)) continue;
    const bool whole =
        history.size() >= attempt.inherited && (attempt.inherited == 0 || history[attempt.inherited - 1].turn);
    if (!whole) continue;  // an inherited turn was lost to damage: what builds on it cannot be rebuilt
    const bool takes_over = history.size() > attempt.inherited && !history[attempt.inherited].turn;
    const auto paid_by = takes_over ? history[attempt.inherited].paid_by : number;
    history.resize(attempt.inherited);
    add_own(history, attempt);
    history[attempt.inherited].paid_by = paid_by;
  }
  return history;
}

}  // namespace

std::vector<std::vector<LoggedTurn>> read_histories(const RunLog& log, const std::vector<HistoryKey>& wanted) {
  std::map<HistoryKey, std::size_t> index;
  for (std::size_t i = 0; i < wanted.size(); ++i) index.emplace(wanted[i], i);
  std::vector<Attempts> found(wanted.size());
  Selection selection;
  selection.wanted = [&](const AttemptId& id) { return index.contains({id.episode, id.key}); };
  LogWalk walk(log, refuse_the_unclear);
  for (const auto& stem : stems_of(log.folder)) {
    walk.read(stem, selection, [&](Record&& record) {
      const auto& id = attempt_of(record);
      Collector collect{found[index.at({id.episode, id.key})]};
      std::visit([&](auto&& r) { collect(std::move(r)); }, std::move(record));
    });
  }
  std::vector<std::vector<LoggedTurn>> histories;
  for (const auto& attempts : found) histories.push_back(chain(attempts));
  return histories;
}

std::vector<LoggedTurn> read_history(const RunLog& log, const EpisodeId& episode, const std::string& key) {
  return std::move(read_histories(log, {{episode, key}}).front());
}

}  // namespace nkigrid::log
