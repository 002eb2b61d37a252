#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include "jobs/base/error.hpp"

namespace nkigrid::jobs {

/// How much a thing that `doctor` looked at matters.
enum class Need {
  needed,    ///< without it a run here cannot work: the exit code says so
  useful,    ///< a run works without it, with less
  optional,  ///< some grids want it; no grid was given
  unneeded,  ///< the grid does not use it: nobody looked
};

/// One thing that `doctor` looked at.
struct Finding {
  std::string what;
  bool ok = false;
  Need need = Need::needed;
  std::string text;  ///< what was found, or what lacks and what to do
};

/// The first word of a finding's line.
inline std::string_view word_of(const Finding& finding) noexcept {
  if (finding.need == Need::unneeded) return "-";
  if (finding.ok) return "ok";
  return finding.need == Need::needed ? "FAILED" : finding.need == Need::optional ? "optional" : "lacking";
}

/// Runs a check whose trouble is its answer.
inline Finding look(const std::string& what, Need need, const std::function<std::string()>& check) {
  try {
    return {what, true, need, check()};
  } catch (const std::exception& error) {
    return {what, false, need, error.what()};
  }
}

/// What the grid at hand does not use. @param why e.g. "the grid's backend is sim"
inline Finding not_needed(const std::string& what, std::string_view why) {
  return {what, true, Need::unneeded, "not needed here: " + std::string(why)};
}

[[noreturn]] inline void lacks(std::string text) { throw Error(ErrorCode::external, std::move(text)); }

}  // namespace nkigrid::jobs
