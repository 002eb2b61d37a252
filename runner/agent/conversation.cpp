#include "runner/agent/conversation.hpp"

#include "jobs/base/hash.hpp"
#include "runner/agent/modes.hpp"

namespace nkigrid::agent {

bool note_source(Conversation& talk, const std::string& source) {
  return !talk.sources.insert(sha256_hex(source)).second;
}

Reading hear(Conversation& talk, const EpisodeJob& job, const model::ChatReply& reply) {
  talk.synthetic = talk.synthetic || reply.system_fingerprint == model::kSyntheticFingerprint;
  return read_reply(reply, tools_of(job.mode), job.model.call_recovery);
}

void enter_turn(Conversation& talk, const Reading& reading, const log::Turn& turn,
                std::vector<model::Message> answers) {
  talk.turns = turn.turn;
  talk.nudged = talk.nudged || turn.nudged;
  talk.last_event = turn.event;
  talk.messages.push_back(reading.message);
  talk.messages.insert(talk.messages.end(), answers.begin(), answers.end());
  talk.pending = std::move(answers);
}

}  // namespace nkigrid::agent
