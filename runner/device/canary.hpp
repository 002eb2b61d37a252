#pragma once

#include <string>

#include "runner/device/fork_servers.hpp"
#include "runner/device/run_client.hpp"

namespace nkigrid::device {

/// A known kernel (matmul and add) on known numbers: when it works, a child that died was killed by its kernel; when it does not,
/// the machinery is at fault.
class Canary {
 public:
  Canary(ForkServers& servers, OutputPool& pool, jobs::DeviceSpec spec) : servers_(servers), pool_(pool), spec_(std::move(spec)) {}

  /// Compiles it. @returns why it failed, or ""
  std::string compile_failure(std::string* program = nullptr) const;
  /// Compiles and runs it and checks every number. @returns why it failed, or ""
  std::string failure() const;

 private:
  ForkServers& servers_;
  OutputPool& pool_;
  jobs::DeviceSpec spec_;
};

}  // namespace nkigrid::device
