#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

#include "jobs/base/outcome.hpp"

/// Enums travel as their words: a new word never renumbers an old file.
namespace nkigrid::log {

template <class E>
requires std::is_enum_v<E> std::optional<E> parse_word(std::string_view text)
noexcept {
  if constexpr (std::is_same_v<E, Outcome>)
    return parse_outcome(text);
  else if constexpr (std::is_same_v<E, EndedBy>)
    return parse_ended_by(text);
  else if constexpr (std::is_same_v<E, TurnEvent>)
    return parse_turn_event(text);
  else if constexpr (std::is_same_v<E, Stage>)
    return parse_stage(text);
  else
    return parse_code(text);
}

}  // namespace nkigrid::log
