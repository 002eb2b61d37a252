#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "runner/model/key_mask.hpp"

namespace nkigrid::model {

/// A key, and what hides it.
struct ApiKey {
  std::string value;  ///< "": none
  KeyMask mask;       ///< of it, and of every other key that is configured beside it

  ApiKey() = default;
  explicit ApiKey(std::string key) : value(std::move(key)), mask(value) {}
};

/// Values of environment variables, by name.
using TakenKeys = std::map<std::string, std::string>;

/// Takes the keys that models find in the environment out of it, and wipes the bytes that other processes could read in
/// /proc/PID/environ. For main, before any thread and any child.
TakenKeys take_environment_keys(const std::vector<jobs::ModelSpec>& specs);

/// Reads a key from where the grid says it is: an environment variable, a file that is one's own and closed to others
/// (0600), or the first line that a command prints. The key is never part of a message.
/// @returns "" when the source is none
/// @throws Error{config} when the source is absent, open to others or empty
/// @param taken what take_environment_keys() gave; else the environment is asked
ApiKey read_key(const jobs::KeySource& source, const TakenKeys& taken = {});

}  // namespace nkigrid::model
