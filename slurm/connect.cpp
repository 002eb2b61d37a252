#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "slurm/connect.hpp"
#include "slurm/plugin.hpp"

namespace nkigrid::slurm {
namespace {

namespace fs = std::filesystem;

/// How long the probe may take. slurm_init stalls for a minute on a bad configuration, and then exits the process.
constexpr int kProbeMilliseconds = 4000;

[[noreturn]] void unavailable(std::string why) {
  throw Error(ErrorCode::external, std::move(why) + "; `run` and `resume --local` work without Slurm");
}

/// Where slurm.conf is by its rules; a configless cluster may have none.
void check_configuration() {
  if (const char* named = std::getenv("SLURM_CONF"); named != nullptr && *named != '\0') {
    if (!fs::exists(named))
      unavailable(
          fmt::format("SLURM_CONF names '{}', which does not exist; set it to the cluster's slurm.conf", named));
    return;
  }
  for (const char* place : {"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/usr/local/etc/slurm.conf",
                            "/run/slurm/conf/slurm.conf", "/opt/slurm/etc/slurm.conf"}) {
    if (fs::exists(place)) return;
  }
  unavailable(
      "no Slurm configuration found (SLURM_CONF, /etc/slurm/slurm.conf, /run/slurm/conf); submit from a node of the "
      "cluster");
}

fs::path plugin_path() {
  const auto beside = fs::read_symlink("/proc/self/exe").parent_path();
  for (const auto& place : {beside / kPluginFile, beside / ".." / "lib" / "nkigrid" / kPluginFile}) {
    if (fs::exists(place)) return place;
  }
  unavailable(
      fmt::format("the Slurm plugin '{}' is not beside the program; build it where Slurm's headers are", kPluginFile));
}

PluginEntry load_plugin() {
  const auto path = plugin_path();
  // Global: libslurm's own plugins (auth, hash) look its symbols up in the process.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) unavailable(fmt::format("cannot load the Slurm plugin: {}", ::dlerror()));
  const auto entry = reinterpret_cast<PluginEntry>(::dlsym(library, kPluginEntry));
  if (entry == nullptr) unavailable(fmt::format("'{}' is no Slurm plugin of this version", path.native()));
  return entry;
}

/// Runs in the child: whatever libslurm does here, it does it to itself.
[[noreturn]] void answer_in_child(int output, const std::function<std::string(Client&)>& question) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(output, STDERR_FILENO);
  ::dup2(output, STDOUT_FILENO);
  try {
    const std::unique_ptr<Client> client(load_plugin()());
    fmt::print("{}", question(*client));
    std::fflush(stdout);
    std::_Exit(0);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}", error.what());
    std::fflush(stderr);
    std::_Exit(1);
  }
}

/// Reads what the child says until it closes its end or time is up. @returns false on time-out.
bool read_until_closed(int fd, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kProbeMilliseconds);
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd poll{fd, POLLIN, 0};
    if (::poll(&poll, 1, static_cast<int>(left)) < 0 && errno != EINTR) return false;
    if (poll.revents == 0) continue;
    char buffer[1024];
    const auto got = ::read(fd, buffer, sizeof buffer);
    if (got <= 0) return true;
    if (text.size() < 4096) text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string ask_in_child(const std::function<std::string(Client&)>& question) {
  check_configuration();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno(errno, "make a pipe");
  Fd read_end(ends[0]), write_end(ends[1]);
  const auto child = ::fork();
  if (child < 0) throw_errno(errno, "fork");
  if (child == 0) answer_in_child(write_end.get(), question);
  write_end = Fd();
  std::string said;
  const bool in_time = read_until_closed(read_end.get(), said);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (!in_time)
    unavailable(fmt::format("Slurm did not answer within {} s{}; look at slurmctld and the network",
                            kProbeMilliseconds / 1000, said.empty() ? "" : " (" + said + ")"));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    unavailable(said.empty() ? "libslurm ended its process while it started; look at slurm.conf"
                             : "Slurm is not usable here: " + said);
  }
  return said;
}

std::unique_ptr<Client> connect() {
  ask_in_child([](Client& client) {
    client.limits();
    return std::string();
  });
  return std::unique_ptr<Client>(load_plugin()());
}

}  // namespace nkigrid::slurm
