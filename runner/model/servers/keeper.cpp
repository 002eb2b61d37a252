#include "runner/model/servers/keeper.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/clock.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/notice.hpp"
#include "runner/log/file_lock.hpp"
#include "runner/model/servers/health.hpp"
#include "runner/proc/tended.hpp"

namespace nkigrid::model {
namespace {

using State = log::ServerNote::State;

constexpr Seconds kGrace{10};  ///< between SIGTERM and SIGKILL: less than a batch system leaves us (KillWait, 30 s)
constexpr Seconds kFirstAsk{0.1}, kAskEvery{1};  ///< the wait between questions doubles
constexpr Seconds kAskWanted{30};                ///< each question locks the job table of the whole site
constexpr Seconds kPredecessor{60};              ///< how long an earlier keeper of the same replica may take to end
constexpr std::uint32_t kStarts = 2;

/// The port that a server shall listen on. Another program that has it would be taken for the server.
/// @param wanted 0: any @throws Error{external} when it is taken
std::uint32_t free_port(std::uint32_t wanted) {
  const Fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!probe) throw_errno(errno, "make a socket");
  const int yes = 1;  // as servers do: what an earlier one left in TIME_WAIT is free
  ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(wanted));
  if (::bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(probe.get(), 1) != 0) {
    throw Error(ErrorCode::external,
                fmt::format("found its port {} taken by another program; leave `port` out of the grid's `server` (any "
                            "free one is taken then), or end that program",
                            wanted));
  }
  socklen_t size = sizeof address;
  if (::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) throw_errno(errno, "find a port");
  return ntohs(address.sin_port);
}

/// What a launcher of MPI says to its own processes would make a server take itself for one of them.
bool is_launchers(std::string_view variable) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"OMPI_", "PMIX_", "PMI_", "PRTE_", "MPI_", "OPAL_"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

std::vector<std::string> environment_of(const jobs::ServerSpec& spec, const jobs::ServerPlace& place) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos && !is_launchers(text))
      variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  for (const auto& [name, text] : spec.environment) variables[name] = jobs::filled_in(text, place);
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

std::vector<std::string> words_of(const jobs::ServerSpec& spec, const jobs::ServerPlace& place) {
  std::vector<std::string> words;
  for (const auto& word : spec.command) words.push_back(jobs::filled_in(word, place));
  if (words.front().find('/') != std::string::npos) return words;
  const auto program = find_program(words.front());
  if (!program)
    throw Error(ErrorCode::external, fmt::format("cannot begin: there is no program '{}' on PATH", words.front()));
  words.front() = program->native();
  return words;
}

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

class Keeper {
 public:
  Keeper(const jobs::ServerSpec& spec, const KeeperOptions& options) : spec_(spec), options_(options) {
    const auto signals = ending_signals();
    auto blocked = signals;
    for (const int signal : {SIGUSR1, SIGUSR2, SIGPIPE}) sigaddset(&blocked, signal);
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
    signals_ = Fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) throw_errno(errno, "wait for signals");
    if (options_.parent > 0) parent_ = watch_parent();
  }

  std::string keep() {
    if (!take_lock()) return {};
    note(State::starting);
    if (options_.begun) options_.begun();
    try {
      for (note_.starts = 1;; ++note_.starts) {
        if (!live_once()) return {};
      }
    } catch (const Error& error) {
      note_.text = error.what();
      note(State::failed);
      return fmt::format("the server of model '{}' {}", options_.name.server, error.what());
    }
  }

 private:
  /// What ended a wait.
  enum class Event { nothing, server_ended, told };

  Fd watch_parent() const {
    Fd parent;
    try {
      parent = proc::open_pidfd(options_.parent);
    } catch (const Error&) {
      // It has ended already: told_ says so below.
    }
    return ::getppid() == options_.parent ? std::move(parent) : Fd();
  }

  /// One start of the server. @returns true when it died after it had answered and may be started once more
  bool live_once() {
    place_ = {options_.host, free_port(spec_.port == 0 ? 0 : spec_.port + options_.name.replica),
              options_.name.replica};
    note_.address = fmt::format("http://{}:{}", options_.machine, place_.port);
    note(State::starting);
    const auto path = log::server_file(options_.log_folder, options_.name, ".out");
    const auto words = words_of(spec_, place_);
    const Fd output = open_output(path, words);
    proc::Tended server(words, environment_of(spec_, place_), output);
    tell("the server of model '{}' starts on port {}; it prints to '{}'", options_.name.server, place_.port,
         path.native());
    if (!wait_for_answer(server)) return end_well(server);
    note_.text.clear();
    note(State::healthy);
    tell("the server of model '{}' answers at {}", options_.name.server, note_.address);
    if (watch(server, std::nullopt) == Event::told) return end_well(server);
    const auto how = proc::describe(server.end(Seconds(0)));
    const auto tail = log::end_of_server_log(options_.log_folder, options_.name);
    if (note_.starts >= kStarts)
      throw Error(ErrorCode::external, fmt::format("died twice, the second time it {}{}", how, ends_with(tail)));
    note_.text = fmt::format("{} and is started once more{}", how, ends_with(tail));
    tell("the server of model '{}' {}", options_.name.server, note_.text);
    return true;
  }

  template <class... Words>
  void tell(fmt::format_string<Words...> format, Words&&... words) const {
    if (!options_.quiet) notice(format, std::forward<Words>(words)...);
  }

  std::string ends_with(const std::string& tail) const {
    const auto path = log::server_file(options_.log_folder, options_.name, ".out").native();
    return tail.empty() ? fmt::format("; '{}' is empty", path) : fmt::format("; '{}' ends: {}", path, tail);
  }

  Fd open_output(const std::filesystem::path& path, const std::vector<std::string>& words) const {
    Fd output = open_own_file(path, O_WRONLY | O_APPEND);
    write_all(output.get(), fmt::format("nkigrid: start {}: {}\n", note_.starts, fmt::join(words, " ")), path);
    return output;
  }

  /// @returns false when it was told to end @throws Error{external} when it ends, or its time is over, before it
  /// answers
  bool wait_for_answer(proc::Tended& server) {
    Health health(spec_, note_.address);
    const auto deadline = clock_.monotonic() + spec_.start_timeout;
    for (Seconds wait = kFirstAsk;; wait = std::min(wait * 2, kAskEvery)) {
      const auto event = watch(server, std::min(clock_.monotonic() + wait, deadline));
      if (event == Event::told) return false;
      if (event == Event::server_ended) {
        const auto how = proc::describe(server.end(Seconds(0)));
        throw Error(ErrorCode::external,
                    fmt::format("{} before it answered{}", how,
                                ends_with(log::end_of_server_log(options_.log_folder, options_.name))));
      }
      if (health.ask()) return true;
      if (clock_.monotonic() < deadline) continue;
      server.end(kGrace);
      throw Error(ErrorCode::external,
                  fmt::format("gave no answer at {} within start_timeout ({:.0f} s; it must listen on {{host}} and "
                              "{{port}}){}",
                              note_.address, spec_.start_timeout.count(),
                              ends_with(log::end_of_server_log(options_.log_folder, options_.name))));
    }
  }

  /// Until something happens, or `deadline`.
  Event watch(const proc::Tended& server, std::optional<Seconds> deadline) {
    for (;;) {
      const auto now = clock_.monotonic();
      const bool asks = options_.is_wanted != nullptr;
      if (asks && now - asked_ >= kAskWanted && !still_wanted()) return Event::told;
      auto until = asks ? asked_ + kAskWanted : now + Seconds(3600);
      if (deadline) until = std::min(until, *deadline);
      if (const auto event = wait_until(server, until); event != Event::nothing) return event;
      if (deadline && clock_.monotonic() >= *deadline) return Event::nothing;
    }
  }

  Event wait_until(const proc::Tended& server, Seconds until) {
    if (options_.parent > 0 && !parent_) return why_ = "ended with the run", Event::told;
    const auto left = std::max(Seconds(0), until - clock_.monotonic());
    std::array<pollfd, 3> watched = {
        {{server.pidfd(), POLLIN, 0}, {signals_.get(), POLLIN, 0}, {parent_ ? parent_.get() : -1, POLLIN, 0}}};
    const int got = ::poll(watched.data(), watched.size(), static_cast<int>(left.count() * 1000) + 1);
    if (got < 0 && errno != EINTR) throw_errno(errno, "watch a server");
    if (got <= 0) return Event::nothing;
    if (watched[2].revents != 0) return why_ = "ended with the run", Event::told;
    if (watched[1].revents != 0) return why_ = signal_text(), Event::told;
    return watched[0].revents != 0 ? Event::server_ended : Event::nothing;
  }

  std::string signal_text() const {
    signalfd_siginfo info = {};
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) return "was told to end";
    return fmt::format(
        "was told to end ({}{})", ::strsignal(static_cast<int>(info.ssi_signo)),
        options_.job.empty() ? "" : ": its job was cancelled, or its time limit, server.slurm.time, is over");
  }

  bool still_wanted() {
    const bool wanted = options_.is_wanted();
    asked_ = clock_.monotonic();
    if (!wanted) why_ = "ended with the run";
    return wanted;
  }

  /// Nobody may take it for healthy while it ends.
  bool end_well(proc::Tended& server) {
    end_note(why_);
    server.end(kGrace);
    return false;
  }

  void end_note(const std::string& why) {
    note_.text = why;
    note(State::ended);
  }

  void note(State state) {
    note_.state = state;
    note_.job = options_.job;
    note_.since = clock_.unix_seconds();
    log::note_server(options_.log_folder, options_.name, note_);
  }

  /// One keeper a replica: the one of a session that was killed may still be ending its server. Held until we end.
  /// @returns false when told to end meanwhile
  bool take_lock() {
    const auto path = log::server_file(options_.log_folder, options_.name, ".lock");
    make_directories(path.parent_path());
    lock_ = open_own_file(path, O_RDWR);
    const auto deadline = clock_.monotonic() + kPredecessor;
    while (log::try_lock(lock_, path) == log::LockResult::busy) {
      if (clock_.monotonic() >= deadline)
        throw Error(ErrorCode::external, fmt::format("the server of model '{}' is kept by another process ('{}' is "
                                                     "locked); wait for that run, or end it first",
                                                     options_.name.server, path.native()));
      pollfd signals{signals_.get(), POLLIN, 0};
      if (::poll(&signals, 1, 100) > 0) return false;
    }
    return true;
  }

  const jobs::ServerSpec& spec_;
  const KeeperOptions& options_;
  SystemClock clock_;
  Fd signals_, parent_, lock_;
  jobs::ServerPlace place_;
  log::ServerNote note_;
  Seconds asked_ = clock_.monotonic();
  std::string why_;
};

}  // namespace

std::string keep_server(const jobs::ServerSpec& spec, const KeeperOptions& options) {
  return Keeper(spec, options).keep();
}

}  // namespace nkigrid::model
