#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "jobs/plan.hpp"

namespace nkigrid::aggregate {

/// What tells cells of a grid apart.
inline constexpr const char* kFactors[] = {"model", "mode", "prompt"};

/// The value of a cell for a factor.
const std::string& factor_value(const jobs::CellSpec& cell, std::string_view factor) noexcept;

/// The run of a cell that is kept apart, "" for the others; names of cells hold no @.
std::string_view run_of(std::string_view cell) noexcept;
/// The cell without its run.
std::string_view plain_cell(std::string_view cell) noexcept;

/// What a cell shares with those it is compared with along a factor: its other two values, and its run.
std::string context_of(const jobs::CellSpec& cell, std::string_view factor);

/// The same along two factors at once: the third's value, and its run.
std::string context_of(const jobs::CellSpec& cell, std::pair<std::string_view, std::string_view> factors);

}  // namespace nkigrid::aggregate
