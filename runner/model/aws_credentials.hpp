#pragma once

#include <array>
#include <string>
#include <string_view>

#include "runner/model/key.hpp"

namespace nkigrid::model {

/// Environment variables that hold secrets of AWS.
inline constexpr std::array<std::string_view, 4> kAwsSecrets = {"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID",
                                                                "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"};

/// Adds what AWS's own tools would prove themselves with, in their order: with no account named, a bearer key
/// (AWS_BEARER_TOKEN_BEDROCK) or AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment;
/// then a profile of ~/.aws/credentials and ~/.aws/config (or the files that AWS_SHARED_CREDENTIALS_FILE and
/// AWS_CONFIG_FILE name), its `credential_process` included. Single sign-on and roles go by such a process.
/// @param account the profile; "": $AWS_PROFILE, else `default`
/// @param taken what take_environment_keys() gave; else the environment is asked
/// @throws Error{config} when there are none
/// @source docs.aws.amazon.com/sdkref/latest/guide/file-format.html, feature-process-credentials.html
void add_aws_keys(ApiKey& key, const std::string& account, const TakenKeys& taken);

}  // namespace nkigrid::model
