#include "runner/model/key.hpp"

#include <stdlib.h>
#include <string.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/model/aws_credentials.hpp"
#include "runner/proc/child.hpp"

namespace nkigrid::model {
namespace {

constexpr Seconds kCommandTimeout{30};

std::string first_line(std::string text) {
  text = text.substr(0, text.find_first_of("\r\n"));
  text.erase(0, text.find_first_not_of(" \t"));
  text.erase(text.find_last_not_of(" \t") + 1);
  return text;
}

std::string from_environment(const std::string& name, const TakenKeys& taken) {
  if (const auto found = taken.find(name); found != taken.end()) return first_line(found->second);
  const char* value = std::getenv(name.c_str());
  if (value == nullptr)
    throw Error(ErrorCode::config, fmt::format("no key in the environment variable '{}'; set it", name));
  return first_line(value);
}

std::string from_file(const std::string& name) {
  std::filesystem::path path = name;
  if (const char* home = std::getenv("HOME"); home != nullptr && name.starts_with("~/"))
    path = std::string(home) + name.substr(1);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::config,
                fmt::format("no key file '{}'; write the key there and chmod 600 it", path.string()));
  }
  if (status.st_uid != ::geteuid()) {
    throw Error(ErrorCode::config, fmt::format("key file '{}' belongs to another user (uid {}); use a file of your own",
                                               path.string(), status.st_uid));
  }
  if ((status.st_mode & 077U) != 0) {
    throw Error(ErrorCode::config,
                fmt::format("key file '{}' is open to others (mode {:04o}, legal 0600); chmod 600 it", path.string(),
                            status.st_mode & 07777U));
  }
  return first_line(read_file(path));
}

std::string from_command(const std::vector<std::string>& command) {
  std::vector<std::string> environment;
  for (const char* name : {"PATH", "HOME", "USER", "LANG"}) {
    if (const char* value = std::getenv(name)) environment.push_back(fmt::format("{}={}", name, value));
  }
  auto words = command;
  const bool on_path = words.front().find('/') == std::string::npos;  // as a shell would look for it
  if (on_path) words.insert(words.begin(), "/usr/bin/env");
  const proc::CommandResult result = proc::run_command(words, kCommandTimeout, environment, 1 << 16);
  const auto* exited = std::get_if<proc::Exited>(&result.end);
  if (exited == nullptr || exited->status != 0) {
    throw Error(ErrorCode::config,
                fmt::format("key command '{}' failed; run it by hand to see why", command.empty() ? "" : command[0]));
  }
  return first_line(result.out);
}

/// Environment variables that hold a model's secrets, or may.
std::vector<std::string> environment_names(const jobs::ModelApi& api) {
  std::vector<std::string> names;
  for (const auto& source : key_sources(api))
    if (source.kind == jobs::KeySource::Kind::env) names.push_back(source.value);
  const auto* bedrock = std::get_if<jobs::Bedrock>(&api);
  if (bedrock != nullptr && bedrock->remote.key.kind == jobs::KeySource::Kind::none && bedrock->account.empty())
    names.insert(names.end(), kAwsSecrets.begin(), kAwsSecrets.end());
  return names;
}

}  // namespace

TakenKeys take_environment_keys(const std::vector<jobs::ModelSpec>& specs) {
  TakenKeys taken;
  for (const auto& spec : specs) {
    for (const auto& name : environment_names(spec.api)) {
      char* value = std::getenv(name.c_str());
      if (value == nullptr) continue;
      taken[name] = value;
      ::explicit_bzero(value, std::strlen(value));
      ::unsetenv(name.c_str());
    }
  }
  return taken;
}

ApiKey read_key(const jobs::KeySource& source, const TakenKeys& taken) {
  std::string key;
  switch (source.kind) {
    case jobs::KeySource::Kind::none:
      return {};
    case jobs::KeySource::Kind::env:
      key = from_environment(source.value, taken);
      break;
    case jobs::KeySource::Kind::file:
      key = from_file(source.value);
      break;
    case jobs::KeySource::Kind::command:
      key = from_command(source.command);
      break;
  }
  if (key.empty()) throw Error(ErrorCode::config, "the key's source is there but empty; put the key on its first line");
  return ApiKey(std::move(key));
}

ApiKey read_keys_of(const jobs::ModelApi& api, const TakenKeys& taken) {
  const auto* remote = remote_of(api);
  if (remote == nullptr) return {};
  ApiKey key = read_key(remote->key, taken);
  for (const auto& header : remote->headers) {
    if (header.secret.kind == jobs::KeySource::Kind::none) continue;
    const ApiKey secret = read_key(header.secret, taken);
    key.headers.push_back({header.name, secret.value});
    // "Bearer sk-...": the word before the key is none.
    key.mask.add(std::string_view(secret.value).substr(secret.value.rfind(' ') + 1));
  }
  const auto* bedrock = std::get_if<jobs::Bedrock>(&api);
  if (bedrock != nullptr && key.value.empty()) add_aws_keys(key, bedrock->account, taken);
  return key;
}

}  // namespace nkigrid::model
