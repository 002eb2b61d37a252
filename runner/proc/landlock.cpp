#include "runner/proc/landlock.hpp"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "jobs/base/error.hpp"

namespace nkigrid::proc {
namespace {

/// The rights that a version of Landlock can take away: 13 in the first, then refer and truncate. Device ioctls (the fifth)
/// are the seccomp filter's matter.
std::uint64_t handled_rights(int version) noexcept {
  const int count = version >= 3 ? 15 : version == 2 ? 14 : 13;
  return (std::uint64_t{1} << count) - 1;
}

}  // namespace

int landlock_version() noexcept {
  const auto version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<int>(version) : 0;
}

Fd make_landlock_rules(std::span<const std::filesystem::path> readable) {
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = handled_rights(landlock_version());
  // Only the file part of the structure: older kernels know no more of it.
  Fd rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes.handled_access_fs, 0)));
  if (!rules) throw_errno(errno, "make file rules (landlock)");
  for (const auto& path : readable) {
    const Fd folder(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!folder) continue;
    landlock_path_beneath_attr rule{};
    rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    rule.parent_fd = folder.get();
    if (::syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
      throw_errno(errno, "allow reading (landlock)", path.native());
    }
  }
  return rules;
}

bool apply_landlock(int rules) noexcept { return ::syscall(SYS_landlock_restrict_self, rules, 0) == 0; }

}  // namespace nkigrid::proc
