#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace nkigrid {

/// What kind of trouble stopped us; exit_code() maps it onto the exit codes of the command line.
enum class ErrorCode { usage, config, io, corrupt, external, timeout, interrupted, internal };

/// The one exception type of nkigrid. `what()` is the message with its context chain, outermost first:
/// "while sealing 'RUN/log/a.journal': no space left on device".
///
/// Message style: lower case, `<problem> '<value>' (<why, legal range>); <what to do>`, with file:line:col where there
/// is one. Words that look like an API key are hidden: a message repeats what somebody wrote or a program said.
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

/// What the program tells its caller: the exit codes of the command line.
enum class ExitCode : int {
  done = 0,           ///< all of it, and well
  incomplete = 1,     ///< outstanding after a clean stop, or what was checked does not pass
  usage = 2,          ///< usage or configuration
  damaged = 3,        ///< I/O failed, or data is corrupt
  external = 4,       ///< something outside stopped us: quota, authentication, endpoint, device, Slurm, MPI, a timeout
  internal = 70,      ///< our fault
  interrupted = 130,  ///< SIGINT
};

/// What an error that nobody handled ends the program with.
ExitCode exit_code(ErrorCode code) noexcept;

/// The one of two that the caller is told: what needs somebody most (internal, damaged, external) stands first.
ExitCode worse(ExitCode a, ExitCode b) noexcept;

std::string_view to_string(ErrorCode code) noexcept;

/// Throws Error{io} (or Error{timeout} for ETIMEDOUT) whose text names the call, the object and strerror(errno_value).
[[noreturn]] void throw_errno(int errno_value, std::string_view doing, std::string_view object = {});

}  // namespace nkigrid
