#pragma once

#include <string>

#include "jobs/base/clock.hpp"

namespace nkigrid::cli {

/// Imports what references are computed with, as a reference worker would. @returns the versions
/// @param patience for the import; a busy machine is told from one that lacks them
/// @throws Error when they are not to be had, with what to do
std::string look_at_torch(Seconds patience = Seconds(120));

}  // namespace nkigrid::cli
