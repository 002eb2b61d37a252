#pragma once

#include <string_view>

#include "runner/log/records.hpp"

/// Values of one record that cannot stand beside each other (docs/formats/segment.md, Contradictions). None is written,
/// none is believed: a row that says two things would be counted as either.
namespace nkigrid::log {

/// @returns which values contradict each other, e.g. "passed and outcome", or cannot be ("seconds (0 or more are
/// wanted)"); "" where all can stand
std::string_view contradiction(const Record& record) noexcept;
std::string_view contradiction(const Reply& reply) noexcept;
std::string_view contradiction(const Turn& turn) noexcept;
std::string_view contradiction(const End& end) noexcept;

/// What readers of few columns can still hold against each other.
std::string_view contradiction(std::int8_t compile_ok, std::int8_t verify_ok, Code code) noexcept;

}  // namespace nkigrid::log
