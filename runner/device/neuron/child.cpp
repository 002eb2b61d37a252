#include "runner/device/neuron/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "runner/device/shared/stop_signals.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;

// nkigrid_confine needs a moment to kill what the program started; then it is killed itself.
constexpr double kKillSeconds = 10;
constexpr std::size_t kMostLastWords = 600;

/// What every program needs: the system, its devices' descriptions, nothing of anybody's home, temporary files or
/// shared storage.
constexpr std::array kSystem = {"/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/proc", "/sys", "/dev", "/opt/aws"};

std::string filled(std::string argument, const fs::path& scratch) {
  constexpr std::string_view kPlace = "{scratch}";
  if (const auto at = argument.find(kPlace); at != std::string::npos)
    argument.replace(at, kPlace.size(), scratch.native());
  return argument;
}

std::vector<std::string> command(const NeuronChild::Spec& spec, const fs::path& scratch) {
  std::vector<std::string> argv = {spec.confine, spec.strict ? "strict" : "relaxed"};
  const auto add = [&argv](const char* word, const fs::path& path) {
    argv.emplace_back(word);
    argv.emplace_back(path);
  };
  for (const char* folder : kSystem) add("--read", folder);
  for (const auto& path : spec.readable) {
    add("--read", path);
    std::error_code ignored;
    if (const auto real = fs::canonical(path, ignored); !ignored && real != path) add("--read", real);
  }
  add("--write", scratch);
  for (const auto& path : spec.writable) add("--write", path);
  argv.emplace_back("--");
  for (const auto& argument : spec.argv) argv.push_back(filled(argument, scratch));
  return argv;
}

std::vector<std::string> environment(const NeuronChild::Spec& spec, const fs::path& scratch) {
  auto variables = spec.environment;
  variables.push_back("HOME=" + (scratch / "home").native());
  variables.push_back("TMPDIR=" + (scratch / "tmp").native());
  for (auto& variable : variables) variable = filled(variable, scratch);
  return variables;
}

}  // namespace

NeuronChild::NeuronChild(const Spec& spec) : scratch_("nkigrid-neuron") {
  for (const char* folder : {"work", "home", "tmp", "cache"}) make_directories(scratch_.path() / folder);
  const Fd log(::open((scratch_.path() / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log) throw_errno(errno, "make", (scratch_.path() / "log").native());
  auto sockets = proc::make_socket_pair(proc::SocketKind::stream);
  std::array<int, 2> lifeline{};
  if (::pipe2(lifeline.data(), O_CLOEXEC) != 0) throw_errno(errno, "make a pipe");
  const Fd its_end(lifeline[0]);
  lifeline_ = Fd(lifeline[1]);
  const std::array<proc::DescriptorMap, 4> descriptors = {
      {{log.get(), 1}, {log.get(), 2}, {sockets.theirs.get(), 3}, {its_end.get(), 4}}};
  process_ = proc::spawn(command(spec, scratch_.path()), environment(spec, scratch_.path()), descriptors,
                         proc::Group::own_session);
  work_ = std::move(sockets.ours);
}

NeuronChild::~NeuronChild() {
  try {
    kill();
  } catch (const std::exception&) {
    // Nothing can be done about a process that cannot be reaped.
  }
}

const std::string& NeuronChild::kill() {
  lifeline_ = Fd();
  return reap();
}

const std::string& NeuronChild::finish(Seconds grace) {
  work_ = Fd();
  if (end_.empty()) proc::wait_readable(process_.pidfd.get(), proc::deadline_after(grace.count()));
  return kill();
}

const std::string& NeuronChild::reap() {
  if (!end_.empty()) return end_;
  work_ = Fd();
  if (!proc::wait_readable(process_.pidfd.get(), proc::deadline_after(kKillSeconds))) ::kill(-process_.pid, SIGKILL);
  const auto end = proc::reap(process_);
  stopped_ = device::was_stopped(end);
  end_ = proc::describe(end);
  return end_;
}

std::string NeuronChild::last_words() const {
  // The program could have put anything there: only a plain file is read, and only its end.
  const Fd log(::open((scratch_.path() / "log").c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!log) return {};
  const auto size = ::lseek(log.get(), 0, SEEK_END);
  if (size <= 0) return {};
  std::string tail(std::min<std::size_t>(static_cast<std::size_t>(size), kMostLastWords), '\0');
  const auto got = ::pread(log.get(), tail.data(), tail.size(), size - static_cast<off_t>(tail.size()));
  tail.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!tail.empty() && tail.back() == '\n') tail.pop_back();
  return to_valid_utf8(tail);
}

}  // namespace nkigrid::device
