#pragma once

#include <exception>
#include <functional>
#include <string>

#include "jobs/base/error.hpp"

namespace nkigrid::cli {

/// One thing that `doctor` looked at. `needed`: without it a run here cannot work (the exit code says so); else it is good to know.
struct Finding {
  std::string what;
  bool ok = false, needed = true;
  std::string text;  ///< what was found, or what lacks and what to do
};

/// Runs a check whose trouble is its answer.
inline Finding look(const std::string& what, bool needed, const std::function<std::string()>& check) {
  try {
    return {what, true, needed, check()};
  } catch (const std::exception& error) {
    return {what, false, needed, error.what()};
  }
}

[[noreturn]] inline void lacks(std::string text) { throw Error(ErrorCode::external, std::move(text)); }

}  // namespace nkigrid::cli
