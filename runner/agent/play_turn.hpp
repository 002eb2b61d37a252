#pragma once

#include "runner/agent/reading.hpp"
#include "runner/agent/session.hpp"

namespace nkigrid::agent {

/// Works through one reply: runs its calls or its code, answers, appends the turn, and sets `ended_by`.
/// The reply must be durable already. @throws InfraStop, Error{io}
void play_turn(Session& session, const Reading& reading);

}  // namespace nkigrid::agent
