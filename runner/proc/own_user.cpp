#include "runner/proc/own_user.hpp"

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <initializer_list>

namespace nkigrid::proc {

/// @source systemd, "Users, Groups, UIDs and GIDs": 0x70000000 to 0x7FFFFFFF are unused
bool become_nobody() noexcept {
  const auto own = static_cast<uid_t>(0x70000000U + static_cast<std::uint32_t>(::getpid()));
  constexpr uid_t kNobody = 65534;
  if (::setgroups(0, nullptr) != 0 && errno != EPERM) return false;
  for (const uid_t user : {own, kNobody}) {
    if (::setresgid(user, user, user) == 0 && ::setresuid(user, user, user) == 0) return true;
  }
  return false;
}

bool can_become_nobody() noexcept {
  if (::geteuid() != 0) return false;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(become_nobody() ? 0 : 1);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace nkigrid::proc
