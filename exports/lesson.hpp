#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exports/dialogue.hpp"
#include "runner/agent/tools.hpp"

namespace nkigrid::exports {

/// A call whose arguments are good, as its tool's schema has them.
struct TaughtCall {
  std::string id, name;
  agent::DecodedCall arguments;
};

/// A message to learn from, in no trainer's form.
struct TaughtMessage {
  model::Role role = model::Role::user;
  std::string content;
  std::string reasoning;          ///< assistant only
  std::vector<TaughtCall> calls;  ///< assistant only
  std::string answers;            ///< tool only: the id of its call
  std::string tool;               ///< tool only: the name of what was called
  bool trains = false;            ///< assistant only: a trainer is to learn it; the others are context
};

/// One episode as a row of a training set. It ends with a reply.
struct Lesson {
  std::vector<model::ToolSpec> tools;
  std::vector<TaughtMessage> messages;
  std::uint32_t turns_left_out = 0;  ///< because a call of them does not parse
  std::uint32_t trained = 0;         ///< messages that train
};

/// Where a lesson ends.
enum class LessonEnd : std::uint8_t { last_turn, passing_turn };

/// A turn trains when its own checks let it pass and, where it gave the final kernel, that passed. A turn with a call
/// that does not parse is left out with its answers. Ids of calls are made anew, nine letters and digits: the strictest
/// chat templates refuse others.
/// @pre story.is_whole(); with LessonEnd::passing_turn, passing_turn(story) > 0
Lesson lesson_of(const Dialogue& dialogue, const Story& story, LessonEnd end);

}  // namespace nkigrid::exports
