#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "runner/model/http.hpp"
#include "runner/model/key_mask.hpp"

namespace nkigrid::model {

struct AwsCredentials {
  std::string access_id, secret;
  std::string session_token;  ///< of temporary ones
};

/// What proves who asks, and what hides it.
struct ApiKey {
  std::string value;                ///< "": none
  AwsCredentials aws;               ///< of api bedrock without a key
  std::vector<HeaderLine> headers;  ///< those whose values are secrets
  KeyMask mask;                     ///< of all of it, and of every other key that is configured beside it

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

/// All that a model's requests prove themselves with: its key, secret headers, and for Bedrock without a key what AWS's
/// own tools would use (aws_credentials.hpp). @throws Error{config} as read_key()
ApiKey read_keys_of(const jobs::ModelApi& api, const TakenKeys& taken = {});

}  // namespace nkigrid::model
