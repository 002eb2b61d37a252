#include "jobs/base/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/key_like.hpp"

namespace nkigrid {

namespace {

/// A library's own names for its faults, "[json.exception.type_error.302] ", tell a user nothing.
std::string without_library_names(std::string message) {
  constexpr std::string_view kStart = "[json.exception.";
  for (auto at = message.find(kStart); at != std::string::npos; at = message.find(kStart, at)) {
    const auto end = message.find(']', at);
    if (end == std::string::npos) break;
    message.erase(at, end + 1 - at + (message.compare(end + 1, 1, " ") == 0 ? 1 : 0));
  }
  return message;
}

}  // namespace

Error::Error(ErrorCode code, std::string message)
    : code_(code), message_(without_key_like(without_library_names(std::move(message)))) {}

Error& Error::add_context(std::string_view context) {
  message_ = fmt::format("{}: {}", context, message_);
  return *this;
}

ExitCode exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::usage:
    case ErrorCode::config:
      return ExitCode::usage;
    case ErrorCode::io:
    case ErrorCode::corrupt:
      return ExitCode::damaged;
    case ErrorCode::external:
    case ErrorCode::timeout:
      return ExitCode::external;
    case ErrorCode::interrupted:
      return ExitCode::interrupted;
    case ErrorCode::internal:
      return ExitCode::internal;
  }
  return ExitCode::internal;
}

ExitCode worse(ExitCode a, ExitCode b) noexcept {
  using enum ExitCode;
  constexpr std::array kWorstFirst = {internal, damaged, external, interrupted, usage, incomplete, done};
  const auto place = [&](ExitCode code) { return std::find(kWorstFirst.begin(), kWorstFirst.end(), code); };
  return place(a) <= place(b) ? a : b;
}

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::usage:
      return "usage";
    case ErrorCode::config:
      return "config";
    case ErrorCode::io:
      return "io";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::external:
      return "external";
    case ErrorCode::timeout:
      return "timeout";
    case ErrorCode::interrupted:
      return "interrupted";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

void throw_errno(int errno_value, std::string_view doing, std::string_view object) {
  const std::string reason = std::generic_category().message(errno_value);
  const auto code = errno_value == ETIMEDOUT ? ErrorCode::timeout : ErrorCode::io;
  if (object.empty()) throw Error(code, fmt::format("cannot {}: {}", doing, reason));
  throw Error(code, fmt::format("cannot {} '{}': {}", doing, object, reason));
}

}  // namespace nkigrid
