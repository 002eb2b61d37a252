#pragma once

#include <string>
#include <vector>

namespace nkigrid::proc {

/// `strict`: every property has a provider, or nothing starts. `relaxed`: what this machine has.
enum class SandboxLevel { strict, relaxed };

/// One thing that a hostile child must not reach, and what on this machine keeps it from that.
struct SandboxProperty {
  std::string name;  ///< "files", "network", "processes and signals", "limits", "metadata"
  std::vector<std::string>
      providers;      ///< each alone would do; the first ones are relied on, the others are second walls
  std::string needs;  ///< in words, what would provide it
};

/// All properties as this machine provides them. Forks a child to see which namespaces may be left.
std::vector<SandboxProperty> sandbox_properties();

/// What `strict` needs and this machine lacks, in words; empty: all there.
std::vector<std::string> missing_sandbox_parts();

/// @throws Error{config} naming what lacks and how to do without, when `level` is strict and something does.
void require_sandbox(SandboxLevel level);

}  // namespace nkigrid::proc
