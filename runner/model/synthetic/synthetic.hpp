#pragma once

#include "jobs/benchmark.hpp"
#include "runner/model/chat.hpp"
#include "runner/model/synthetic/profile.hpp"

namespace nkigrid::model {

/// The synthetic model's reply: not a language model's, and each says so in `system_fingerprint`.
///
/// It finds the task by the line `Task: <id>`, takes the known kernel, breaks it (faults.hpp), and repairs it in later
/// turns with chances that depend on how well the diagnostics in the history name the faults. Its state is re-derived
/// from the messages every time: the result is a pure function of the profile, the messages, the tools on offer and the
/// seed, so that in process and over a socket it is one model.
///
/// @throws ChatError{fatal} when the task is unknown to the benchmark or has no known kernel
ChatReply synthetic_reply(const Profile& profile, const jobs::Benchmark& benchmark, const ChatRequest& request);

}  // namespace nkigrid::model
