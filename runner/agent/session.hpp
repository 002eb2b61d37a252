#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "jobs/base/clock.hpp"
#include "runner/agent/conversation.hpp"
#include "runner/agent/episode.hpp"
#include "runner/device/device.hpp"
#include "runner/log/records.hpp"
#include "runner/model/model.hpp"

namespace nkigrid::agent {

/// What this attempt used; inherited turns are not in it.
struct AttemptUsage {
  std::uint64_t tokens_in = 0, tokens_out = 0, tokens_cached = 0;
  double cost_usd = 0;
  std::uint32_t api_retries = 0;
};

/// One attempt of one episode at work, between its begin and its end.
struct Session {
  const EpisodeJob& job;
  model::ChatModel& model;
  device::Device& device;
  const std::function<void(const log::Record&)>& append;
  const Clock& clock;
  Conversation talk = {};
  AttemptUsage usage = {};
  std::string last_request = {};  ///< of this attempt, as it was sent
  std::string full = {};          ///< how the server said that the conversation is too long

  /// What the device said in this attempt: the same kernel again is answered without it. By source and entry; verdicts
  /// by the number of trials, too.
  using Kernel = std::pair<std::string, std::optional<std::string>>;
  std::map<Kernel, device::CompileResult> compiled = {};
  std::map<std::pair<Kernel, std::uint32_t>, device::VerifyResult> verified = {};
};

}  // namespace nkigrid::agent
