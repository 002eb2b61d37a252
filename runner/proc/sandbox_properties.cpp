#include "runner/proc/sandbox_properties.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "runner/proc/landlock.hpp"
#include "runner/proc/namespaces.hpp"
#include "runner/proc/own_user.hpp"
#include "runner/proc/seccomp_filter.hpp"

namespace nkigrid::proc {
namespace {

constexpr const char* kFilter = "a system call filter that kills (seccomp, Linux 4.14)";
constexpr const char* kFileRules = "file rules (Landlock, Linux 5.13 with lsm=landlock)";

std::vector<std::string> only(std::initializer_list<std::pair<bool, const char*>> candidates) {
  std::vector<std::string> there;
  for (const auto& [is_there, words] : candidates) {
    if (is_there) there.emplace_back(words);
  }
  return there;
}

}  // namespace

std::vector<SandboxProperty> sandbox_properties() {
  const bool filter = has_seccomp(), nobody = can_become_nobody();
  const int rules = landlock_version();
  const Namespaces spaces = namespaces_that_may_be_left();
  return {
      {"files", only({{rules > 0, "Landlock"}}), kFileRules},
      {"network",
       only({{filter, "system call filter"}, {rules >= kLandlockOfTcp, "Landlock"}, {spaces.network, "namespace"}}),
       kFilter},
      {"processes and signals",
       only({{filter, "system call filter"},
             {rules >= kLandlockOfSignals, "Landlock"},
             {spaces.processes, "namespace"},
             {nobody, "a user of its own"}}),
       kFilter},
      {"limits", {"resource limits"}, {}},
      {"metadata", only({{filter, "system call filter"}, {nobody, "a user of its own"}}), kFilter},
  };
}

std::vector<std::string> missing_sandbox_parts() {
  std::vector<std::string> missing;
  for (const auto& property : sandbox_properties()) {
    // The filter is not asked for in place of a second wall: without it nothing says that a kernel tried.
    const bool provided = property.needs == kFilter ? has_seccomp() : !property.providers.empty();
    if (!provided && std::ranges::find(missing, property.needs) == missing.end()) missing.push_back(property.needs);
  }
  return missing;
}

void require_sandbox(SandboxLevel level) {
  if (level == SandboxLevel::relaxed) return;
  const auto missing = missing_sandbox_parts();
  if (missing.empty()) return;
  throw Error(
      ErrorCode::config,
      fmt::format("the strict sandbox cannot be had on this machine (it lacks {}); use a kernel that has it, or say "
                  "'sandbox: relaxed' under check to run kernels with what there is",
                  fmt::join(missing, " and ")));
}

}  // namespace nkigrid::proc
