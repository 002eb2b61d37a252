#pragma once

#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::agent {

/// The messages of an episode's first request: the system message (the prompt file) and the harness's task message.
std::vector<model::Message> first_messages(const jobs::Task& task, const jobs::PromptSpec& prompt,
                                           const jobs::ModeSpec& mode);

}  // namespace nkigrid::agent
