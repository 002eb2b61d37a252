#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jobs/base/files.hpp"
#include "runner/proc/seccomp_filter.hpp"

namespace nkigrid::proc {

/// `strict`: every part or nothing. `relaxed`: what this kernel has.
enum class SandboxLevel { strict, relaxed };

/// The parts that `strict` needs and this machine lacks, in words; empty: all there.
std::vector<std::string> missing_sandbox_parts();

/// @throws Error{config} naming what lacks and how to do without, when `level` is strict and something does.
void require_sandbox(SandboxLevel level);

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

  /// In the server, once, while it has one thread: leaves the network and the IPC objects of the machine where that is
  /// allowed (root, or a kernel that lets users make namespaces). A second wall; the filter is the first.
  static void leave_namespaces() noexcept;

  /// In the child: own session, dies with its server, no descriptors but `keep` (0-2 become /dev/null), limits, no
  /// capabilities, no new privileges, file rules, filter; in that order. Not to be undone.
  /// @throws Error{external} naming the step when a step of `strict` fails
  void enter(const SandboxLimits& limits, std::span<const int> keep) const;

 private:
  SandboxLevel level_;
  std::optional<SeccompFilter> filter_;
  Fd file_rules_;
};

}  // namespace nkigrid::proc
