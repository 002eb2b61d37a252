#pragma once

#include <string>

#include "jobs/grid/grid.hpp"

namespace nkigrid::model {

/// Reads a key from where the grid says it is: an environment variable, a file that is one's own and closed to others
/// (0600), or the first line that a command prints. The key is never part of a message.
/// @returns "" when the source is none
/// @throws Error{config} when the source is absent, open to others or empty
std::string read_key(const jobs::KeySource& source);

}  // namespace nkigrid::model
