#pragma once

#include <memory>

#include "jobs/grid/grid.hpp"
#include "runner/model/model.hpp"

namespace nkigrid::model {

/// Answers each episode's turns with what the same episode (cell, task, replicate) got in an earlier run. Nothing is
/// asked or paid; times, counts and costs are those of then. Where the conversation is not the one of then, no logged
/// reply is an answer to it: that is fatal and says where the two part.
/// @param spec of api replay
/// @throws Error{config} when there is no such run or it lacks the model; Error{io}, Error{corrupt} from its log
std::unique_ptr<ChatModel> make_replay(const jobs::ModelSpec& spec, const jobs::Replay& api);

}  // namespace nkigrid::model
