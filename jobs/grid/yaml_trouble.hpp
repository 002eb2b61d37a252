#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jobs/grid/problems.hpp"

/// Why a text is no YAML, where somebody would look for it: the parser names the place at which it lost the thread,
/// which may be pages after the slip.
namespace nkigrid::jobs {

struct YamlTrouble {
  Place place;
  std::string message;
};

/// The first byte that no text file holds: a NUL, or one that is no UTF-8.
std::optional<YamlTrouble> not_a_text(std::string_view text);

/// The slip behind a text that a parser refused: a tab as indentation, a bracket or a quote that is not closed. Nothing
/// where none of these is seen; asked only of what is broken, for a right file may hold each in a quoted or block text.
std::optional<YamlTrouble> likely_slip(std::string_view text);

}  // namespace nkigrid::jobs
