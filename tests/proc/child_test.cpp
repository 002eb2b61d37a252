#include "runner/proc/child.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <variant>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/proc/frame.hpp"
#include "runner/proc/held_signals.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::proc {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

CommandResult shell(const std::string& script, double seconds = 20, std::size_t keep = 1 << 20) {
  return run_command({"/bin/sh", "-c", script}, Seconds(seconds), {"PATH=/usr/bin:/bin"}, keep);
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Waits for a process that is not our child. @returns false when it still runs after ten seconds
bool ends(pid_t pid) {
  try {
    return wait_readable(open_pidfd(pid).get(), deadline_after(10));
  } catch (const Error&) {
    return true;  // there is no such process
  }
}

TEST(RunCommand, GivesStatusAndBothStreams) {
  const auto result = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(std::get<Exited>(result.end).status, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.out_bytes, 4U);
}

TEST(RunCommand, EnvironmentIsExactlyWhatIsGiven) {
  const auto result = run_command({"/usr/bin/env"}, Seconds(20), {"ONLY=this"});
  EXPECT_EQ(result.out, "ONLY=this\n");
}

TEST(RunCommand, StandardInputIsEmpty) { EXPECT_EQ(shell("cat; echo done").out, "done\n"); }

/// Stands for what a signal would leave behind.
struct Scratch {
  std::filesystem::path file;
  explicit Scratch(std::filesystem::path path) : file(std::move(path)) { std::ofstream(file) << "stands"; }
  ~Scratch() { std::filesystem::remove(file); }
};

TEST(RunCommand, ASignalThatIsHeldBackTakesEffectWhenAllIsClearedAway) {
  const TemporaryDirectory folder;
  const auto stop = [&] {
    const HeldSignals held;
    const Scratch scratch(folder.path() / "scratch");
    ::kill(::getpid(), SIGTERM);
    try {
      shell("sleep 600");
    } catch (const Error& error) {
      if (error.code() != ErrorCode::interrupted) ::_exit(1);
    }
  };
  EXPECT_EXIT(stop(), testing::KilledBySignal(SIGTERM), "");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "scratch"));
}

TEST(RunCommand, EndsWithWhoWaitsForItHoweverThatEnds) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "pid";
  const pid_t caller = ::fork();
  if (caller == 0) {
    shell("echo $$ > " + file.native() + ".part; mv " + file.native() + ".part " + file.native() + "; exec sleep 1000",
          2000);
    ::_exit(0);
  }
  const auto deadline = deadline_after(20);
  while (!std::filesystem::exists(file) && std::chrono::steady_clock::now() < deadline) ::usleep(2000);
  const pid_t child = std::stoi(read_file(file));
  const auto pidfd = open_pidfd(child);
  ::kill(caller, SIGKILL);
  EXPECT_TRUE(wait_readable(pidfd.get(), deadline_after(20)));
  ::waitpid(caller, nullptr, 0);
}

pid_t pid_in(const std::filesystem::path& file) {
  const auto deadline = deadline_after(20);
  while (!std::filesystem::exists(file) && std::chrono::steady_clock::now() < deadline) ::usleep(2000);
  return std::stoi(read_file(file));
}

/// One that left the group and the session, and is nobody's child any more: what a daemon does.
std::string starts_a_daemon(const std::filesystem::path& file) {
  return fmt::format("(setsid sh -c 'echo $$ > {0}.part; mv {0}.part {0}; exec sleep 1000' &) ; ", file.native());
}

TEST(RunCommand, WhoeverItStartedEndsWithWhoWaitsForItAndSoDoesItsScratchFolder) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "pid", scratch = folder.path() / "scratch";
  std::filesystem::create_directory(scratch);
  const pid_t caller = ::fork();
  if (caller == 0) {
    const auto script = starts_a_daemon(file) + "echo > " + (scratch / "kept").native() + "; sleep 1000";
    run_command({"/bin/sh", "-c", script}, Seconds(2000), {}, 1 << 20, scratch);
    ::_exit(0);
  }
  const auto daemon = open_pidfd(pid_in(file));
  ::kill(caller, SIGKILL);
  EXPECT_TRUE(wait_readable(daemon.get(), deadline_after(20)));
  ::waitpid(caller, nullptr, 0);
  const auto deadline = deadline_after(20);
  while (std::filesystem::exists(scratch) && std::chrono::steady_clock::now() < deadline) ::usleep(2000);
  EXPECT_FALSE(std::filesystem::exists(scratch));
}

TEST(RunCommand, WhoeverItStartedEndsWithIt) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "pid", scratch = folder.path() / "scratch";
  std::filesystem::create_directory(scratch);
  const auto script = starts_a_daemon(file) + "until test -e " + file.native() + "; do :; done; exit 3";
  const auto result = run_command({"/bin/sh", "-c", script}, Seconds(60), {}, 1 << 20, scratch);
  EXPECT_EQ(std::get<Exited>(result.end).status, 3);
  EXPECT_TRUE(ends(pid_in(file)));
  EXPECT_TRUE(std::filesystem::exists(scratch)) << "its owner lives";
}

TEST(RunCommand, SignalIsASignal) {
  const auto result = shell("kill -SEGV $$");
  EXPECT_EQ(std::get<Signaled>(result.end).signal, SIGSEGV);
  EXPECT_THAT(describe(result.end), StartsWith("killed by signal 11"));
}

TEST(RunCommand, ProgramThatDoesNotExistIsNotStarted) {
  const auto result = run_command({"/no/such/program"}, Seconds(20), {});
  EXPECT_THAT(std::get<NotStarted>(result.end).reason, HasSubstr("/no/such/program"));
}

TEST(RunCommand, GrandchildThatHoldsThePipeDoesNotHoldUs) {
  CommandResult result;
  const double took = seconds_of([&] { result = shell("sleep 30 & echo started"); });
  EXPECT_LT(took, 5);
  EXPECT_EQ(result.out, "started\n");
  EXPECT_TRUE(is_success(result.end));
}

TEST(RunCommand, DeadlineKillsTheWholeGroup) {
  CommandResult result;
  const double took = seconds_of([&] { result = shell("sleep 40 & echo $!; wait", 0.2); });
  EXPECT_TRUE(std::holds_alternative<TimedOut>(result.end));
  EXPECT_LT(took, 5);
  EXPECT_TRUE(ends(std::stoi(result.out)));
}

TEST(RunCommand, DeadlineHoldsAgainstAProgramThatIgnoresSignalsAndFloods) {
  const double took = seconds_of([&] {
    const auto result = shell("trap '' TERM INT HUP; exec yes", 0.3, 4096);
    EXPECT_TRUE(std::holds_alternative<TimedOut>(result.end));
    EXPECT_GT(result.out_bytes, 4096U);
  });
  EXPECT_LT(took, 5);
}

/// Peak resident set of this process [KiB].
long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(RunCommand, HugeLogIsDrainedInBoundedMemory) {
  // Errors at both ends of 48 MB of escape codes, overwritten lines and bytes that are not UTF-8.
  const TemporaryDirectory folder;
  const auto script = folder.path() / "log.py";
  std::ofstream(script)
      << "import sys\n"
         "o = sys.stdout.buffer\n"
         "o.write(b'neuronx-cc 2.x start\\nERROR: first cause: partition dim 256 > 128 at k.py:12\\n')\n"
         "line = '\\x1b[33mWARNING\\x1b[0m: \\u00e9tape ignor\\u00e9e \\u2013 tile 123456\\r'.encode()\n"
         "for i in range(1000):\n    o.write(line * 1000)\n"
         "o.write(bytes.fromhex('fffe00c3') + b'\\nERROR: last line: exit code 70\\n')\n"
         "o.flush()\nsys.exit(70)\n";
  shell("true");  // what the first call costs is not the log's
  const long before = peak_kib();
  const auto result = run_command({NKIGRID_PYTHON, script.native()}, Seconds(60), {});
  EXPECT_LT(peak_kib() - before, 4096);
  EXPECT_EQ(std::get<Exited>(result.end).status, 70);
  EXPECT_GT(result.out_bytes, 40'000'000U);
  EXPECT_LE(result.out.size(), (1U << 20) + 100);
  EXPECT_THAT(result.out.substr(0, 200), HasSubstr("ERROR: first cause"));
  EXPECT_THAT(result.out, EndsWith("ERROR: last line: exit code 70\n"));
  EXPECT_EQ(result.out_sha256.size(), 64U);
}

}  // namespace
}  // namespace nkigrid::proc
