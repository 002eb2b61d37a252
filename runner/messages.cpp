#include "runner/messages.hpp"

#include <nlohmann/json.hpp>

// JSON between ranks of one build of one program: readable in a debugger, and dealing sends batches, so its cost is
// noise.
namespace nkigrid::runner {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Want, episodes, ahead, received, node)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Assignment, episode, attempt, dead_attempt, dead_node, resumed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Done, episode, ended, begun, dead_attempt, outcome, on_device, node, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Spent, cell, tokens, cost_usd)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Cells, cells)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Trouble, exit_code, reason, model, cell, at_once)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunResult, episodes, scored, outstanding, begun, stopped_by, exit_code,
                                   outdone_nodes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Start, seconds_left, resumed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeLeft, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Drain, at_once)

namespace {

using nlohmann::json;

/// Reasons may quote what a server said: invalid UTF-8 is replaced, never thrown at.
std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::string encode(const Want& want) { return dump(want); }
std::string encode(const std::vector<Assignment>& work) { return dump(work); }
std::string encode(const std::vector<Done>& done) { return dump(done); }
std::string encode(const std::vector<Spent>& spent) { return dump(spent); }
std::string encode(const Cells& cells) { return dump(cells); }
std::string encode(const Trouble& trouble) { return dump(trouble); }
std::string encode(const RunResult& result) { return dump(result); }
std::string encode(const Start& start) { return dump(start); }
std::string encode(const TimeLeft& left) { return dump(left); }
std::string encode(const Drain& drain) { return dump(drain); }

Want decode_want(std::string_view text) { return json::parse(text).get<Want>(); }
std::vector<Assignment> decode_work(std::string_view text) { return json::parse(text).get<std::vector<Assignment>>(); }
std::vector<Done> decode_done(std::string_view text) { return json::parse(text).get<std::vector<Done>>(); }
std::vector<Spent> decode_spent(std::string_view text) { return json::parse(text).get<std::vector<Spent>>(); }
Cells decode_cells(std::string_view text) { return json::parse(text).get<Cells>(); }
Trouble decode_trouble(std::string_view text) { return json::parse(text).get<Trouble>(); }
RunResult decode_result(std::string_view text) { return json::parse(text).get<RunResult>(); }
Start decode_start(std::string_view text) { return json::parse(text).get<Start>(); }
TimeLeft decode_time_left(std::string_view text) { return json::parse(text).get<TimeLeft>(); }
Drain decode_drain(std::string_view text) { return json::parse(text).get<Drain>(); }

}  // namespace nkigrid::runner
