#pragma once

#include <string>

#include "runner/device/backend.hpp"

namespace nkigrid::device {

/// The canary's task: a product of two matrices of small integers and a sum, exact in float32, none of its outputs all
/// zeros.
jobs::Task canary_task();
std::string canary_source();
CompileResult compile_canary(Backend& backend);
/// Runs it in a session and checks every number. @returns why it failed, or ""
std::string canary_failure_in(Session& session);

/// A known kernel (matmul and add) on known numbers: when it works, a child that died was killed by its kernel; when it
/// does not, the machinery is at fault. @threads safe
class Canary {
 public:
  explicit Canary(Backend& backend) : backend_(backend) {}

  /// Compiles it. @returns why it failed, or ""
  std::string compile_failure() const;
  /// Compiles and runs it and checks every number. @returns why it failed, or ""
  std::string failure() const;

 private:
  Backend& backend_;
};

}  // namespace nkigrid::device
