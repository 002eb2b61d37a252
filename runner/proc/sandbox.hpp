#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "jobs/base/files.hpp"
#include "runner/proc/sandbox_properties.hpp"
#include "runner/proc/seccomp_filter.hpp"

namespace nkigrid::proc {

/// What one child may use.
struct SandboxLimits {
  std::uint64_t address_space_bytes = 0;  ///< 0: no limit
  std::uint64_t cpu_seconds = 0;          ///< 0: no limit
};

/// What a child gives up before it touches anything hostile, made ready once in its server.
class Sandbox {
 public:
  /// @param readable folders that the python profile may read
  /// @throws Error{config} as require_sandbox(); Error{external} when the filter cannot be built
  Sandbox(SandboxProfile profile, SandboxLevel level, std::span<const std::filesystem::path> readable);

  /// In the child: own session, dies with its server, no descriptors but `keep` (0-2 become /dev/null), limits, a user
  /// of its own (of root's children), no capabilities, no new privileges, file rules, filter; in that order. Not to be
  /// undone.
  /// @throws Error{external} naming the step when a step of `strict` fails
  void enter(const SandboxLimits& limits, std::span<const int> keep) const;

 private:
  SandboxLevel level_;
  std::optional<SeccompFilter> filter_;
  Fd file_rules_;
  bool own_user_ = false;  ///< its folders can be read by anybody
};

}  // namespace nkigrid::proc
