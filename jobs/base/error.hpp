#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace nkigrid {

/// What kind of trouble stopped us; maps one to one onto the exit codes of the command line.
enum class ErrorCode { usage, config, io, corrupt, external, timeout, interrupted, internal };

/// The one exception type of nkigrid. `what()` is the message with its context chain, outermost first:
/// "while sealing 'RUN/log/a.journal': no space left on device".
///
/// Message style: lower case, `<problem> '<value>' (<why, legal range>); <what to do>`, with file:line:col where there
/// is one.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message);

  ErrorCode code() const noexcept { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

  /// Prepends "`context`: ".
  /// @returns *this, so that `throw std::move(error.add_context(...))` reads well.
  Error& add_context(std::string_view context);

 private:
  ErrorCode code_;
  std::string message_;
};

/// Exit codes of the contract: usage and config 2; io and corrupt 3; external and timeout 4; internal 70; interrupted
/// 130.
int exit_code(ErrorCode code) noexcept;

std::string_view to_string(ErrorCode code) noexcept;

/// Throws Error{io} (or Error{timeout} for ETIMEDOUT) whose text names the call, the object and strerror(errno_value).
[[noreturn]] void throw_errno(int errno_value, std::string_view doing, std::string_view object = {});

}  // namespace nkigrid
