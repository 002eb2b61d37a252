#include "runner/model/replay.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "jobs/run_directory.hpp"
#include "runner/log/history.hpp"
#include "runner/log/ledger.hpp"
#include "runner/model/chat_json.hpp"

namespace nkigrid::model {
namespace {

struct Recorded {
  std::vector<log::LoggedTurn> turns;
  bool context_full = false;  ///< the turn after the last was refused as too long
};

/// `cell` of the replaying run as the earlier one calls it: another model stands in front.
std::string cell_there(const std::string& cell, const jobs::ModelSpec& spec, const jobs::Replay& api) {
  return api.model + cell.substr(spec.name.size());
}

/// What was said since the model spoke last, as the log has it.
std::string newest_lines(const std::vector<Message>& messages) {
  auto first = messages.end();
  while (first != messages.begin() && std::prev(first)->role != Role::assistant) --first;
  std::string lines;
  for (; first != messages.end(); ++first) lines += to_json(*first) + '\n';
  return lines;
}

class ReplayModel final : public ChatModel {
 public:
  ReplayModel(const jobs::ModelSpec& spec, const jobs::Replay& api) : spec_(spec), api_(api) {
    const jobs::Run run = jobs::load_run(api.run);
    const log::Ledger ledger = log::read_ledger(run);
    std::vector<log::HistoryKey> wanted;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < run.plan.episodes.size(); ++i) {
      const auto& episode = run.plan.episodes[i];
      if (run.plan.cells[episode.cell].model != api.model || !ledger.states[i].is_scored()) continue;
      wanted.push_back({run.plan.id_of(episode), run.plan.key(episode.cell, episode.task)});
      places.push_back(i);
    }
    if (wanted.empty()) {
      throw Error(ErrorCode::config, fmt::format("models.{}.model '{}' has no finished episode in the run '{}'; name a "
                                                 "model of that run",
                                                 spec.name, api.model, api.run.native()));
    }
    auto histories = log::read_histories(log::log_of(run), wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto& end = ledger.ends[places[i]];
      episodes_[wanted[i].episode] = {std::move(histories[i]), end && end->ended_by == EndedBy::context_full};
    }
  }

  ChatReply complete(const ChatRequest& request, std::stop_token) override {
    const EpisodeId there = {cell_there(request.episode.cell, spec_, api_), request.episode.task,
                             request.episode.replicate};
    const auto found = episodes_.find(there);
    if (found == episodes_.end()) fail(there, "it has not finished there");
    const auto& turns = found->second.turns;
    if (request.turn > turns.size()) {
      if (found->second.context_full && request.turn == turns.size() + 1)
        throw ChatError(ChatFailure::context_full, "the conversation was too long in the earlier run");
      fail(there, fmt::format("it ended after {} turns there", turns.size()));
    }
    return answer(there, turns[request.turn - 1].reply, request);
  }

 private:
  ChatReply answer(const EpisodeId& there, const log::Reply& recorded, const ChatRequest& request) const {
    if (newest_lines(request.messages) != recorded.request)
      fail(there, fmt::format("turn {} was asked something else there; replay with the same prompts, tasks, checks and "
                              "version",
                              request.turn));
    ChatReply reply = parse_reply(recorded.reply);
    reply.raw = recorded.raw;
    reply.llm_s = recorded.llm_s;
    reply.wait_s = recorded.wait_s;
    reply.api_retries = recorded.api_retries;
    reply.recorded_cost = recorded.cost_usd;
    return reply;
  }

  [[noreturn]] void fail(const EpisodeId& there, const std::string& why) const {
    throw ChatError(ChatFailure::fatal, fmt::format("model '{}' replays episode '{}' of '{}', and {}", spec_.name,
                                                    to_string(there), api_.run.native(), why));
  }

  jobs::ModelSpec spec_;
  jobs::Replay api_;
  std::map<EpisodeId, Recorded> episodes_;
};

}  // namespace

std::unique_ptr<ChatModel> make_replay(const jobs::ModelSpec& spec, const jobs::Replay& api) {
  return std::make_unique<ReplayModel>(spec, api);
}

}  // namespace nkigrid::model
