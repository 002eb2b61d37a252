#pragma once

#include <string>

#include "runner/device/backend.hpp"

namespace nkigrid::device {

/// A known kernel (matmul and add) on known numbers: when it works, a child that died was killed by its kernel; when it does not,
/// the machinery is at fault. @threads safe
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
