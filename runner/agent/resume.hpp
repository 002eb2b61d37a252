#pragma once

#include <optional>

#include "runner/agent/conversation.hpp"
#include "runner/agent/episode.hpp"
#include "runner/log/records.hpp"

namespace nkigrid::agent {

/// A conversation as earlier attempts left it.
struct Rebuilt {
  Conversation talk;
  std::optional<log::Reply> unanswered;  ///< the reply whose tools have not answered, if there is one
};

/// Rebuilds the conversation from the job's history, without a device. @throws Error{corrupt} when it cannot be rebuilt
Rebuilt rebuild(const EpisodeJob& job);

}  // namespace nkigrid::agent
