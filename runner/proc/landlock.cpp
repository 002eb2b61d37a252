#include "runner/proc/landlock.hpp"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "jobs/base/error.hpp"

namespace nkigrid::proc {
namespace {

/// The rights that a version of Landlock can take away: 13 in the first, then refer and truncate. Device ioctls (the
/// fifth) are the seccomp filter's matter.
std::uint64_t handled_rights(int version) noexcept {
  const int count = version >= 3 ? 15 : version == 2 ? 14 : 13;
  return (std::uint64_t{1} << count) - 1;
}

/// struct landlock_ruleset_attr as of version 6; a system's header may be older. A kernel takes as much of it as it
/// knows.
struct RulesetAttributes {
  std::uint64_t files, network, scopes;
};
constexpr std::uint64_t kBindAndConnectTcp = 3;          // LANDLOCK_ACCESS_NET_BIND_TCP, _CONNECT_TCP
constexpr std::uint64_t kAbstractSocketsAndSignals = 3;  // LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, _SIGNAL

Fd make_rules() {
  const int version = landlock_version();
  const RulesetAttributes attributes{handled_rights(version), kBindAndConnectTcp, kAbstractSocketsAndSignals};
  const std::size_t known = version >= kLandlockOfSignals ? 24 : version >= kLandlockOfTcp ? 16 : 8;
  Fd rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, known, 0)));
  if (!rules) throw_errno(errno, "make file rules (landlock)");
  return rules;
}

/// Paths that do not exist are passed over; of a path that is no folder only the rights of files are given.
void allow(int rules, const std::filesystem::path& path, std::uint64_t rights) {
  constexpr std::uint64_t kOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                     LANDLOCK_ACCESS_FS_READ_FILE | (1ULL << 14);  // truncate
  const Fd beneath(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!beneath) return;
  struct stat about = {};
  if (::fstat(beneath.get(), &about) != 0) throw_errno(errno, "look at", path.native());
  landlock_path_beneath_attr rule{};
  rule.allowed_access = S_ISDIR(about.st_mode) ? rights : rights & kOfFiles;
  rule.parent_fd = beneath.get();
  if (::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
    throw_errno(errno, "allow a path (landlock)", path.native());
}

}  // namespace

int landlock_version() noexcept {
  const auto version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<int>(version) : 0;
}

Fd make_landlock_rules(std::span<const std::filesystem::path> readable) {
  auto rules = make_rules();
  for (const auto& path : readable)
    allow(rules.get(), path, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
  return rules;
}

Fd make_landlock_program_rules(std::span<const std::filesystem::path> readable,
                               std::span<const std::filesystem::path> writable) {
  auto rules = make_rules();
  for (const auto& path : readable)
    allow(rules.get(), path, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE);
  for (const auto& path : writable) allow(rules.get(), path, handled_rights(landlock_version()));
  return rules;
}

bool apply_landlock(int rules) noexcept { return ::syscall(SYS_landlock_restrict_self, rules, 0) == 0; }

}  // namespace nkigrid::proc
