#pragma once

#include <string>
#include <utility>

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

/// Reads a key from where the grid says it is: an environment variable, a file that is one's own and closed to others
/// (0600), or the first line that a command prints. The key is never part of a message.
/// @returns "" when the source is none
/// @throws Error{config} when the source is absent, open to others or empty
ApiKey read_key(const jobs::KeySource& source);

}  // namespace nkigrid::model
