#pragma once

#include <string>
#include <vector>

#include "runner/agent/reading.hpp"
#include "runner/agent/session.hpp"
#include "runner/log/records.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::agent {

/// Runs the tool calls of one reply, in order; writes into `turn` and `flags` what they did.
/// @returns an answer a call @throws InfraStop
std::vector<model::Message> run_calls(Session& session, const Reading& reading, log::Turn& turn,
                                      std::vector<std::string>& flags);

}  // namespace nkigrid::agent
