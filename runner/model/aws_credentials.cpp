#include "runner/model/aws_credentials.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/proc/child.hpp"

namespace nkigrid::model {
namespace {

namespace fs = std::filesystem;
using Section = std::map<std::string, std::string>;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string_view stripped(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// One section of an INI file; empty when there is none, or no file.
Section read_section(const fs::path& file, std::string_view wanted) {
  Section section;
  if (!fs::is_regular_file(file)) return section;
  const std::string text = read_file(file);
  bool inside = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = stripped(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      inside = stripped(line.substr(1, line.find(']') - 1)) == wanted;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (inside && equals != std::string_view::npos)
      section[std::string(stripped(line.substr(0, equals)))] = stripped(line.substr(equals + 1));
  }
  return section;
}

fs::path aws_file(const char* variable_name, const char* usual) {
  const std::string named = variable(variable_name);
  return named.empty() ? fs::path(variable("HOME")) / ".aws" / usual : fs::path(named);
}

AwsCredentials of_section(const Section& section) {
  const auto field = [&](const char* name) {
    const auto at = section.find(name);
    return at == section.end() ? std::string() : at->second;
  };
  return {field("aws_access_key_id"), field("aws_secret_access_key"), field("aws_session_token")};
}

/// What a `credential_process` prints. Its words are a shell's, as AWS's tools read them.
AwsCredentials of_process(const std::string& command) {
  const std::vector<std::string> environment = {"PATH=" + variable("PATH"), "HOME=" + variable("HOME")};
  const auto result = proc::run_command({"/bin/sh", "-c", command}, Seconds(60), environment, 1 << 16);
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  if (!json.is_object()) return {};
  return {json.value("AccessKeyId", ""), json.value("SecretAccessKey", ""), json.value("SessionToken", "")};
}

bool is_whole(const AwsCredentials& aws) { return !aws.access_id.empty() && !aws.secret.empty(); }

AwsCredentials of_profile(const std::string& profile) {
  auto aws = of_section(read_section(aws_file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), profile));
  if (is_whole(aws)) return aws;
  const auto config = read_section(aws_file("AWS_CONFIG_FILE", "config"),
                                   profile == "default" ? profile : fmt::format("profile {}", profile));
  aws = of_section(config);
  const auto process = config.find("credential_process");
  return is_whole(aws) || process == config.end() ? aws : of_process(process->second);
}

}  // namespace

void add_aws_keys(ApiKey& key, const std::string& account, const TakenKeys& taken) {
  if (account.empty()) {
    const auto secret = [&](std::string_view name) {
      const auto found = taken.find(std::string(name));
      return found != taken.end() ? found->second : variable(std::string(name).c_str());
    };
    key.value = secret(kAwsSecrets[0]);
    key.aws = {secret(kAwsSecrets[1]), secret(kAwsSecrets[2]), secret(kAwsSecrets[3])};
  }
  std::string profile = account.empty() ? variable("AWS_PROFILE") : account;
  if (profile.empty()) profile = "default";
  if (key.value.empty() && !is_whole(key.aws)) key.aws = of_profile(profile);
  if (key.value.empty() && !is_whole(key.aws)) {
    throw Error(ErrorCode::config,
                fmt::format("no AWS credentials in the environment or in profile '{}' of ~/.aws; set "
                            "AWS_BEARER_TOKEN_BEDROCK, run `aws configure`, or name a `key:`",
                            profile));
  }
  for (const auto& secret : {key.value, key.aws.secret, key.aws.session_token}) key.mask.add(secret);
}

}  // namespace nkigrid::model
