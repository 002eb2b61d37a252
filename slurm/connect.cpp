#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/notice.hpp"
#include "slurm/connect.hpp"
#include "slurm/plugin.hpp"

namespace nkigrid::slurm {
namespace {

namespace fs = std::filesystem;

using std::chrono::steady_clock;

constexpr int kDefaultMessageTimeout = 10;  // [s] @source slurm.conf(5)
/// For the start of libslurm, beyond a call's own time-out. slurm_init stalls for a minute on a bad configuration, and
/// then exits the process.
constexpr std::chrono::seconds kStart{2};
constexpr std::size_t kMostSaid = std::size_t{16} << 20;  // [B] shards of a million elements, with room
constexpr std::chrono::seconds kSilence{2};               ///< before an onlooker hears what is waited for

[[noreturn]] void unavailable(std::string why) {
  throw Error(ErrorCode::external, std::move(why) + "; `run` and `resume --local` work without Slurm");
}

/// slurm.conf by Slurm's rules; a configless cluster has it cached.
fs::path configuration() {
  if (const char* named = std::getenv("SLURM_CONF"); named != nullptr && *named != '\0') {
    if (!fs::exists(named))
      unavailable(
          fmt::format("SLURM_CONF names '{}', which does not exist; set it to the cluster's slurm.conf", named));
    return named;
  }
  for (const char* place : {"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/usr/local/etc/slurm.conf",
                            "/run/slurm/conf/slurm.conf", "/opt/slurm/etc/slurm.conf"}) {
    if (fs::exists(place)) return place;
  }
  unavailable(
      "no Slurm configuration found (SLURM_CONF, /etc/slurm/slurm.conf, /run/slurm/conf); submit from a node of the "
      "cluster");
}

/// "" where it cannot be read: libslurm says why.
std::string readable_text(const fs::path& conf) {
  std::ifstream file(conf, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
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

int milliseconds_until(steady_clock::time_point time) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - steady_clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

/// Reads what the child says until it closes its end or time is up. @returns false on time-out.
bool read_until_closed(int fd, std::string& text, std::chrono::seconds patience, Onlooker onlooker) {
  const auto start = steady_clock::now(), deadline = start + patience;
  bool silent = onlooker == Onlooker::user;
  for (;;) {
    if (milliseconds_until(deadline) == 0) return false;
    if (silent && milliseconds_until(start + kSilence) == 0) {
      silent = false;
      notice("Slurm has not answered yet; waiting as long as its own commands do, {} s (MessageTimeout)",
             (patience - kStart).count());
    }
    pollfd poll{fd, POLLIN, 0};
    if (::poll(&poll, 1, milliseconds_until(silent ? start + kSilence : deadline)) < 0 && errno != EINTR) return false;
    if (poll.revents == 0) continue;
    char buffer[1024];
    const auto got = ::read(fd, buffer, sizeof buffer);
    if (got <= 0) return true;
    if (text.size() < kMostSaid) text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

int message_timeout(std::string_view conf) {
  constexpr std::string_view kName = "messagetimeout";
  int seconds = kDefaultMessageTimeout;
  while (!conf.empty()) {
    auto line = conf.substr(0, conf.find('\n'));
    conf.remove_prefix(std::min(line.size() + 1, conf.size()));
    line = line.substr(0, line.find('#'));
    const auto at = std::search(line.begin(), line.end(), kName.begin(), kName.end(),
                                [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
    line.remove_prefix(std::min(static_cast<std::size_t>(at - line.begin()) + kName.size(), line.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t="), line.size()));
    int said = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), said).ec == std::errc() && said > 0) seconds = said;
  }
  return seconds;
}

std::string ask_in_child(const std::function<std::string(Client&)>& question, Onlooker onlooker) {
  const std::chrono::seconds timeout(message_timeout(readable_text(configuration())));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno(errno, "make a pipe");
  Fd read_end(ends[0]), write_end(ends[1]);
  const auto child = ::fork();
  if (child < 0) throw_errno(errno, "fork");
  if (child == 0) answer_in_child(write_end.get(), question);
  write_end = Fd();
  std::string said;
  const bool in_time = read_until_closed(read_end.get(), said, timeout + kStart, onlooker);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (!in_time)
    unavailable(fmt::format("Slurm did not answer within {} s{}; look at slurmctld and the network", timeout.count(),
                            said.empty() ? "" : " (" + said + ")"));
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
