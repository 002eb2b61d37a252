#include "runner/device/command/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "runner/device/command/files.hpp"

namespace nkigrid::device {
namespace {

constexpr std::size_t kMostReplyBytes = 1 << 20;
constexpr std::size_t kKeptWords = 16 << 10;  // of stderr
constexpr std::size_t kShownWords = 2000;
constexpr double kKeeperSeconds = 10;  // a keeper that has not gone by then is killed itself

Fd null_device() {
  Fd fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!fd) throw_errno(errno, "open", "/dev/null");
  return fd;
}

/// Reads what is there, at most 4 MiB at a time. @returns false at the end of the stream
bool read_some(int fd, std::string& into, std::size_t keep_last) {
  std::array<char, 65536> buffer;
  for (int rounds = 0; rounds < 64; ++rounds) {
    const auto got = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      into.append(buffer.data(), static_cast<std::size_t>(got));
      if (into.size() > keep_last) into.erase(0, into.size() - keep_last);
    } else if (got == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
  return true;
}

int milliseconds_until(proc::Deadline deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 60'000));
}

}  // namespace

CommandProcess::CommandProcess(const Spec& spec) : folder_(spec.folder) {
  // Sockets, not pipes: writing to a program that is gone must be an error, not a SIGPIPE.
  auto input = proc::make_socket_pair(proc::SocketKind::stream),
       output = proc::make_socket_pair(proc::SocketKind::stream);
  auto errors = proc::make_socket_pair(proc::SocketKind::stream),
       lifeline = proc::make_socket_pair(proc::SocketKind::stream);
  const auto nothing = null_device();
  std::vector<std::string> argv = {spec.keeper.native(), "open", "--in", spec.folder.native(), "--scratch",
                                   spec.folder.native(), "--"};
  argv.insert(argv.end(), spec.argv.begin(), spec.argv.end());
  const std::array<proc::DescriptorMap, 5> descriptors = {{{input.theirs.get(), 0},
                                                           {output.theirs.get(), 1},
                                                           {errors.theirs.get(), 2},
                                                           {nothing.get(), 3},
                                                           {lifeline.theirs.get(), 4}}};
  process_ = proc::spawn(argv, spec.environment, descriptors, proc::Group::own_session);
  input_ = std::move(input.ours);
  output_ = std::move(output.ours);
  errors_ = std::move(errors.ours);
  lifeline_ = std::move(lifeline.ours);
}

CommandProcess::~CommandProcess() {
  try {
    stop();
  } catch (const Error&) {
    // It was killed; that it could not be reaped harms nobody.
  }
}

void CommandProcess::drain() {
  if (output_ && !read_some(output_.get(), out_, kMostReplyBytes + 1)) output_ = Fd();
  if (errors_ && !read_some(errors_.get(), err_, kKeptWords)) errors_ = Fd();
}

CommandProcess::Step CommandProcess::step(std::string_view& to_send, Then then, proc::Deadline deadline) {
  const auto watched_fd = [](const Fd& fd) { return fd ? fd.get() : -1; };
  std::array<pollfd, 4> watched = {{{process_.pidfd.get(), POLLIN, 0},
                                    {watched_fd(output_), POLLIN, 0},
                                    {watched_fd(errors_), POLLIN, 0},
                                    {to_send.empty() ? -1 : watched_fd(input_), POLLOUT, 0}}};
  if (::poll(watched.data(), watched.size(), milliseconds_until(deadline)) < 0 && errno != EINTR)
    throw_errno(errno, "wait for a site's program");
  if (watched[3].revents != 0) {
    const auto sent = ::send(input_.get(), to_send.data(), to_send.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) to_send.remove_prefix(static_cast<std::size_t>(sent));
    // It will not read: whether that matters shows in what it answers.
    if (sent < 0 && errno != EAGAIN && errno != EINTR) to_send = {};
    if (to_send.empty() && then == Then::close) ::shutdown(input_.get(), SHUT_WR);
  }
  ended_ = ended_ || watched[0].revents != 0;
  drain();
  return ended_ || std::chrono::steady_clock::now() < deadline ? Step::moved : Step::late;
}

CommandProcess::Answer CommandProcess::ask(std::string_view line, Then then, proc::Deadline deadline) {
  drain();
  if (!line.empty() && !out_.empty()) return {Got::flood, {}};
  auto moved = Step::moved;
  for (auto to_send = line;;
       moved = step(to_send, then,
                    deadline)) {  // what has come before we asked is looked at first: no news of it will wake us
    if (const auto end = out_.find('\n'); end != std::string::npos && end <= kMostReplyBytes) {
      Answer answer{Got::line, out_.substr(0, end)};
      out_.erase(0, end + 1);
      return answer;
    }
    if (out_.size() > kMostReplyBytes) return {Got::flood, {}};
    if (ended_) return out_.empty() ? Answer{Got::ended, {}} : Answer{Got::line, std::exchange(out_, {})};
    if (moved == Step::late) return {Got::late, {}};
  }
}

bool CommandProcess::finish(proc::Deadline deadline) {
  std::string_view nothing;
  while (!ended_) {
    if (step(nothing, Then::more, deadline) == Step::late) return false;
  }
  return out_.empty();
}

proc::ChildEnd CommandProcess::stop() {
  if (reaped_) return end_;
  const char alive = 'a';  // a word before the end: we live, and remove the folder ourselves
  static_cast<void>(::send(lifeline_.get(), &alive, 1, MSG_NOSIGNAL));
  lifeline_ = Fd();
  if (!proc::wait_readable(process_.pidfd.get(), proc::deadline_after(kKeeperSeconds))) ::kill(-process_.pid, SIGKILL);
  reaped_ = true;
  end_ = proc::reap(process_);
  drain();
  ended_ = true;
  return end_;
}

std::string CommandProcess::last_words() const {
  auto text = strip_terminal_codes(to_valid_utf8(err_));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > kShownWords) {
    // From the start of a line: half a line of a traceback misleads.
    const auto line = text.find('\n', text.size() - kShownWords);
    text = to_valid_utf8(text.substr(line == std::string::npos ? text.size() - kShownWords : line + 1));
  }
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string(" | ") : std::string(1, c);
  return out;
}

std::string CommandProcess::describe(std::string_view role, std::string_view name, std::string_view what) const {
  const auto said = last_words();
  return without_folder(
      fmt::format("the {} '{}' {}{}", role, name, what, said.empty() ? "" : fmt::format("; it last said: {}", said)),
      folder_);
}

std::vector<std::string> command_environment(const std::filesystem::path& scratch) {
  constexpr std::array<std::string_view, 9> kNames = {
      "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV"};
  auto variables = proc::numeric_environment();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('='));
    if (std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.starts_with("NEURON_") ||
        name.starts_with("NKIGRID_DEVICE_"))
      variables.emplace_back(text);
  }
  variables.push_back("TMPDIR=" + scratch.native());
  variables.emplace_back("PYTHONHASHSEED=0");  // the same source has the same artifact everywhere
  return variables;
}

}  // namespace nkigrid::device
