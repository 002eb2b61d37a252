#include "runner/agent/conversation.hpp"

#include <algorithm>
#include <cstddef>

#include "jobs/base/hash.hpp"
#include "runner/agent/modes.hpp"

namespace nkigrid::agent {
namespace {

constexpr std::size_t kOpening = 2;  ///< the system message and the task

std::size_t bytes_of(const model::Message& message) {
  std::size_t bytes = message.content.size() + message.opaque.size();
  for (const auto& call : message.tool_calls) bytes += call.name.size() + call.arguments.size();
  return bytes;
}

}  // namespace

bool note_source(Conversation& talk, const std::string& source) {
  return !talk.sources.insert(sha256_hex(source)).second;
}

bool trim(Conversation& talk) {
  std::vector<std::size_t> begins;  // of exchanges
  for (std::size_t i = kOpening; i < talk.messages.size(); ++i)
    if (talk.messages[i].role == model::Role::assistant) begins.push_back(i);
  if (begins.size() < 2) return false;
  const auto bytes_from = [&](std::size_t first) {
    std::size_t bytes = 0;
    for (std::size_t i = first; i < talk.messages.size(); ++i) bytes += bytes_of(talk.messages[i]);
    return bytes;
  };
  const auto all = bytes_from(kOpening);
  auto begin = begins.begin() + 1;
  while (begin + 1 != begins.end() && bytes_from(*begin) > all / 2) ++begin;
  trim_to(talk, talk.trimmed + static_cast<std::uint32_t>(*begin - kOpening));
  return true;
}

void trim_to(Conversation& talk, std::uint32_t trimmed) {
  if (trimmed <= talk.trimmed) return;
  const auto there = talk.messages.size() - std::min(talk.messages.size(), kOpening);
  const auto more = static_cast<std::ptrdiff_t>(std::min<std::size_t>(trimmed - talk.trimmed, there));
  const auto begin = talk.messages.begin() + static_cast<std::ptrdiff_t>(kOpening);
  if (more > 0) talk.messages.erase(begin, begin + more);
  talk.trimmed = trimmed;
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
