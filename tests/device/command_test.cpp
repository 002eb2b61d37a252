#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "jobs/base/error.hpp"
#include "runner/device/command/backend.hpp"
#include "runner/device/command/process.hpp"
#include "runner/proc/frame.hpp"
#include "tests/device/small_task.hpp"

namespace nkigrid::device {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

namespace fs = std::filesystem;

fs::path keeper() { return test_paths().libexec / "nkigrid_confine"; }

/// Programs that are one line of shell.
jobs::CommandSpec shell(const std::string& compile, const std::string& verify = "exit 1") {
  jobs::CommandSpec spec;
  spec.name = "shell 1";
  spec.compile = {"sh", "-c", compile};
  spec.verify = {"sh", "-c", "echo '{\"ok\": true}'; " + verify};
  return spec;
}

std::unique_ptr<Backend> backend_of(const jobs::CommandSpec& spec) {
  return make_backend(spec, {jobs::NkiOptions{}, jobs::CheckSpec{}, test_paths()});
}

CompileAttempt compile_by(const std::string& script, double seconds = 30) {
  return backend_of(shell("read request; " + script))
      ->compile(small_task(), "source\n", std::nullopt, Seconds(seconds));
}

/// Two inputs of [128, 64] in one file: 0, 1, 2, ...
TensorFile arguments() {
  std::vector<float> values(2 * 128 * 64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const auto size = values.size() * sizeof(float);
  TensorFile file;
  file.fd = proc::make_shared_memory("arguments", size);
  write_all(file.fd.get(), {reinterpret_cast<const char*>(values.data()), size}, "arguments");
  file.mapping = proc::Mapping::map(file.fd.get(), size, proc::Mapping::Access::read_only);
  for (std::size_t i = 0; i < 2; ++i) file.tensors.push_back({"float32", {128, 64}, i * size / 2, size / 2});
  return file;
}

/// A backend and its session with one line of shell; `script` begins when the first run has been asked for.
struct Running {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Session> session;
  explicit Running(const std::string& script)
      : backend(backend_of(shell("exit 1", "read request; " + script))),
        session(backend->open(small_task(), Artifact{"made", "kernel", "", 0})) {}
  RunOutcome run(std::size_t slot = 0, double seconds = 30) {
    return session->run(arguments(), slot, {}, Seconds(seconds));
  }
};

bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

pid_t read_pid(const fs::path& file) {
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  return pid;
}

TEST(CommandCompile, TheReplysFileIsTheArtifact) {
  const auto attempt =
      compile_by(R"(cp kernel.py made; echo '{"ok": true, "artifact": "made", "entry": "k", "estimate_us": 2.5, )"
                 R"("warnings": ["odd"]}')");
  ASSERT_TRUE(attempt.result.ok()) << attempt.result.diagnostic.message;
  EXPECT_EQ(attempt.result.artifact->bytes, "source\n");
  EXPECT_EQ(attempt.result.artifact->entry, "k");
  EXPECT_EQ(attempt.result.estimate_us, 2.5);
  EXPECT_THAT(attempt.result.warnings, ElementsAre("warning (not blocking): odd"));
  EXPECT_EQ(attempt.doubt, "");
}

TEST(CommandCompile, AProgramMayReadItsInputToTheEndAndLeaveOutTheLastLineBreak) {
  const auto backend = backend_of(shell(R"(cat > made; printf '{"ok": true, "artifact": "made"}')"));
  const auto attempt = backend->compile(small_task(), "source\n", "main", Seconds(30));
  ASSERT_TRUE(attempt.result.ok()) << attempt.result.diagnostic.message;
  EXPECT_THAT(attempt.result.artifact->bytes,
              AllOf(HasSubstr("\"op\":\"compile\""), HasSubstr("\"entry\":\"main\""), HasSubstr("\"version\":1"),
                    HasSubstr("\"timeout_s\":30"), HasSubstr("T1/two_x_plus_weight"), EndsWith("\n")));
}

TEST(CommandCompile, AFailureThatTheProgramTellsIsTheKernels) {
  const auto attempt =
      compile_by(R"(echo "{\"ok\": false, \"code\": \"PARTITION_LIMIT\", \"stage\": \"backend\", \"line\": 12, )"
                 R"(\"message\": \"in $PWD/kernel.py: 256 rows\"}")");
  const auto& why = attempt.result.diagnostic;
  EXPECT_EQ(why.code, Code::partition_limit);
  EXPECT_EQ(why.stage, Stage::backend);
  EXPECT_EQ(why.line, 12U);
  EXPECT_EQ(why.message, "in kernel.py: 256 rows") << "no path of ours reaches a model";
  EXPECT_EQ(attempt.doubt, "");
}

TEST(CommandCompile, WhatBreaksTheProtocolIsTheMachinesFaultInOneClearMessage) {
  const auto made = [](const std::string& artifact) {
    return "echo '{\"ok\": true, \"artifact\": \"" + artifact + "\"}'";
  };
  const auto failed = [](const std::string& rest) { return "echo '{\"ok\": false, " + rest + "}'"; };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"echo hello", "gave a reply that is no JSON object: 'hello'"},
      {"echo '[1]'", "gave a reply that is no JSON object: '[1]'"},
      {"printf '{\"ok\": tr'", "gave a reply that is no JSON object: '{\"ok\": tr'"},
      {"printf '\\377\\376\\n'", "gave a reply that is no JSON object"},
      {"echo '{\"fine\": true}'", "gave a reply that has no 'ok' that is true or false"},
      {"echo '{\"ok\": 1}'", "gave a reply that has no 'ok' that is true or false"},
      {"echo '{\"ok\": true}'", "no 'artifact'"},
      {failed("\"message\": \"x\""), "no 'code'"},
      {failed("\"code\": \"OOPS\", \"message\": \"x\""),
       "gave a reply whose code 'OOPS' is none that a compile may answer"},
      {failed("\"code\": \"NUMERIC_MISMATCH\", \"message\": \"x\""), "is none that a compile may answer"},
      {failed("\"code\": \"DTYPE\""), "no 'message'"},
      {failed("\"code\": \"DTYPE\", \"message\": 7"), "gave a reply whose 'message' is no text"},
      {failed("\"code\": \"DTYPE\", \"message\": \"x\", \"line\": -1"),
       "gave a reply whose 'line' is no whole number of at least 0"},
      {failed("\"code\": \"DTYPE\", \"message\": \"x\", \"stage\": \"verify\""),
       "gave a reply whose stage 'verify' is none of parse, trace, backend"},
      {failed("\"code\": \"INFRA\", \"message\": \"the licence server is down\""), "the licence server is down"},
      {"echo '{\"ok\": true, \"artifact\": \"kernel.py\", \"estimate_us\": -3}'",
       "gave a reply whose 'estimate_us' is no number of at least 0"},
      {"echo '{\"ok\": true, \"artifact\": \"kernel.py\", \"warnings\": \"w\"}'",
       "gave a reply whose 'warnings' is no list of texts"},
      {"exit 0", "ended without a reply"},
      {"echo one; echo two", "answered more than one line"},
      {"head -c 3000000 /dev/zero", "more than a line may hold"},
      {"echo 'no such licence' >&2; exit 3", "exited with status 3; it last said: no such licence"},
      {made("kernel.py") + "; exit 1", "exited with status 1"},
      {made("missing"), "its file 'missing' is not there"},
      {"ln -s kernel.py made; " + made("made"), "its file 'made' is a symbolic link"},
      {"mkfifo made; " + made("made"), "its file 'made' is no regular file"},
      {"mkdir made; " + made("made"), "its file 'made' is no regular file"},
      {": > made; " + made("made"), "its file 'made' is empty"},
      {made("/etc/passwd"), "its file '/etc/passwd' is not in the scratch folder itself"},
      {made("../made"), "its file '../made' is not in the scratch folder itself"}};
  for (const auto& [script, words] : cases) {
    SCOPED_TRACE(script);
    const auto attempt = compile_by(script);
    EXPECT_EQ(attempt.result.diagnostic.code, Code::infra);
    EXPECT_EQ(attempt.result.diagnostic.stage, Stage::infra);
    EXPECT_THAT(attempt.result.diagnostic.message, HasSubstr(words));
    EXPECT_EQ(attempt.doubt, "");
  }
}

TEST(CommandCompile, AProgramThatIsNotThereIsTheMachinesFault) {
  auto spec = shell("");
  spec.compile = {"no-such-program-anywhere"};
  const auto attempt = backend_of(spec)->compile(small_task(), "x", std::nullopt, Seconds(30));
  EXPECT_EQ(attempt.result.diagnostic.code, Code::infra);
  EXPECT_THAT(attempt.result.diagnostic.message,
              HasSubstr("cannot start no-such-program-anywhere: No such file or directory"));
}

TEST(CommandCompile, ACrashOrExit70IsDoubted) {
  for (const auto& [script, words] :
       {std::pair{"echo dying >&2; kill -SEGV $$", "killed by signal 11 (Segmentation fault); it last said: dying"},
        std::pair{"echo '[F134] no' >&2; exit 70", "exited with status 70; it last said: [F134] no"}}) {
    const auto attempt = compile_by(script);
    EXPECT_EQ(attempt.result.diagnostic.code, Code::compiler_internal);
    EXPECT_THAT(attempt.result.diagnostic.message, HasSubstr(words));
    EXPECT_THAT(attempt.doubt, HasSubstr(words)) << "the canary decides";
  }
}

TEST(CommandCompile, AHangingOneIsATimeoutInDoubtAndLeavesNobodyBehind) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "pid";
  // One that stays in the session, one that leaves it.
  const auto attempt = compile_by("sleep 600 & setsid sleep 600 & echo $! > " + file.native() + "; wait", 2);
  EXPECT_EQ(attempt.result.diagnostic.code, Code::compile_timeout);
  EXPECT_EQ(attempt.result.diagnostic.message, "the kernel did not compile within 2 s");
  EXPECT_THAT(attempt.doubt, HasSubstr("did not answer"));
  ASSERT_GT(read_pid(file), 0);
  EXPECT_TRUE(is_gone(read_pid(file)));
}

TEST(CommandCompile, TheProgramGetsAFolderThatGoesAndNothingOfOurs) {
  ::setenv("SECRET_API_KEY", "hush", 1);
  ::setenv("NKIGRID_DEVICE_OPTION", "7", 1);
  const auto attempt = compile_by(
      R"({ pwd; ls -l /proc/self/fd | grep -c ' -> '; env; } > made; echo '{"ok": true, "artifact": "made"}')");
  ::unsetenv("SECRET_API_KEY");
  ASSERT_TRUE(attempt.result.ok()) << attempt.result.diagnostic.message;
  const auto& text = attempt.result.artifact->bytes;
  EXPECT_THAT(text,
              AllOf(HasSubstr("NKIGRID_DEVICE_OPTION=7\n"), HasSubstr("OMP_NUM_THREADS=1\n"), Not(HasSubstr("hush"))));
  const auto folder = text.substr(0, text.find('\n'));
  EXPECT_THAT(text, HasSubstr("TMPDIR=" + folder + "\n"));
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_THAT(text.substr(folder.size() + 1), StartsWith("4\n")) << "0, 1, 2 and ls's own";
}

TEST(CommandRun, OutputsAreWhatStandsInTheFilesThatWerePoisoned) {
  Running running(
      R"(head -c 4 run1.output0 > /dev/null; tail -c +32769 run1.inputs > run1.output0
         echo '{"ok": true, "hints": ["slow"]}'
         read request; ls run1.* 2>/dev/null && exit 1
         head -c 32768 /dev/zero > run2.output0; echo '{"ok": true}'; read end)");
  const auto first = running.run(0);
  ASSERT_EQ(first.kind, RunOutcome::Kind::ran) << first.words;
  EXPECT_EQ(first.report.code, Code::none);
  EXPECT_THAT(first.report.hints, ElementsAre("slow"));
  const auto given = arguments();
  EXPECT_EQ(std::memcmp(running.session->output(0, 0).data(), given.bytes_of(1).data(), 32768), 0);
  const auto second = running.run(1);
  ASSERT_EQ(second.kind, RunOutcome::Kind::ran) << second.words;
  EXPECT_EQ(running.session->output(1, 0)[5], std::byte{0});
  EXPECT_EQ(std::memcmp(running.session->output(0, 0).data(), given.bytes_of(1).data(), 32768), 0)
      << "the other slot stays";
}

TEST(CommandRun, ElementsThatStillHoldThePoisonWereNeverWritten) {
  Running running(R"(dd if=/dev/zero of=run1.output0 bs=4096 count=2 conv=notrunc 2>/dev/null; echo '{"ok": true}')");
  const auto outcome = running.run();
  ASSERT_EQ(outcome.kind, RunOutcome::Kind::ran) << outcome.words;
  EXPECT_THAT(outcome.report.unwritten, ElementsAre(6144U));
  EXPECT_THAT(outcome.report.hints, ElementsAre("output 0: 6144 of 8192 elements were never written"));
}

TEST(CommandRun, AFailureThatTheProgramTellsIsTheKernels) {
  Running running(R"(echo '{"ok": false, "code": "OOB", "line": 9, "message": "row 130 of 128"}')");
  const auto outcome = running.run();
  ASSERT_EQ(outcome.kind, RunOutcome::Kind::ran);
  EXPECT_EQ(outcome.report.code, Code::oob);
  EXPECT_EQ(outcome.report.line, 9U);
  EXPECT_EQ(outcome.report.message, "row 130 of 128");
  Running denied(R"(echo '{"ok": false, "code": "RULE_VIOLATION", "message": "it opened a socket"}')");
  EXPECT_EQ(denied.run().kind, RunOutcome::Kind::denied);
}

TEST(CommandRun, WhatBreaksTheProtocolIsTheMachinesFault) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"echo hello", "gave a reply that is no JSON object: 'hello'"},
      {"printf '{\"ok\": tr'", "gave a reply that is no JSON object"},
      {"echo '{\"ok\": false, \"code\": \"NUMERIC_MISMATCH\", \"message\": \"x\"}'", "is none that a run may answer"},
      {"echo '{\"ok\": false, \"code\": \"INFRA\", \"message\": \"the core is busy\"}'",
       "reports a fault of the machine: the core is busy"},
      {"head -c 3000000 /dev/zero; read end", "more than a line may hold"},
      {"echo x > run1.output0; echo '{\"ok\": true}'", "its file 'run1.output0' has 2 bytes, 32768 are wanted"},
      {"rm run1.output0; echo '{\"ok\": true}'", "its file 'run1.output0' is not there"},
      {"ln -sf run1.inputs run1.output0; echo '{\"ok\": true}'", "its file 'run1.output0' is a symbolic link"}};
  for (const auto& [script, words] : cases) {
    SCOPED_TRACE(script);
    Running running(script);
    const auto outcome = running.run();
    EXPECT_EQ(outcome.kind, RunOutcome::Kind::machinery);
    EXPECT_THAT(outcome.words, HasSubstr(words));
  }
}

TEST(CommandRun, AProgramThatDiesBeforeItIsReadyIsTheMachinesFault) {
  auto spec = shell("");
  spec.verify = {"sh", "-c", "echo 'no runtime' >&2; exit 5"};
  const auto backend = backend_of(spec);
  const auto outcome =
      backend->open(small_task(), Artifact{"made", "kernel", "", 0})->run(arguments(), 0, {}, Seconds(30));
  EXPECT_EQ(outcome.kind, RunOutcome::Kind::machinery);
  EXPECT_THAT(outcome.words, HasSubstr("exited with status 5 before it was ready; it last said: no runtime"));
}

TEST(CommandRun, AProgramThatIsNotReadySaysWhy) {
  auto spec = shell("");
  spec.verify = {"sh", "-c", R"(echo '{"ok": false, "code": "INFRA", "message": "no device is free"}'; read end)"};
  const auto backend = backend_of(spec);
  const auto outcome =
      backend->open(small_task(), Artifact{"made", "kernel", "", 0})->run(arguments(), 0, {}, Seconds(30));
  EXPECT_EQ(outcome.kind, RunOutcome::Kind::machinery);
  EXPECT_THAT(outcome.words, HasSubstr("says that it is not ready: no device is free"));
}

TEST(CommandProcess, ALineThatCameBeforeItWasAskedForIsTakenAtOnce) {
  const TemporaryDirectory folder;
  CommandProcess process(
      {keeper(), {"sh", "-c", "echo ready; touch said; read end"}, folder.path(), command_environment(folder.path())});
  const auto patience = proc::deadline_after(20);
  while (!std::filesystem::exists(folder.path() / "said") && std::chrono::steady_clock::now() < patience)
    std::this_thread::yield();
  const auto answer = process.ask("", CommandProcess::Then::more, proc::deadline_after(20));
  EXPECT_EQ(answer.got, CommandProcess::Got::line);
  EXPECT_EQ(answer.line, "ready");
  EXPECT_LT(std::chrono::steady_clock::now(), patience) << "it waited for more";
}

TEST(CommandRun, ADeathOrALostDeviceInARunIsACrash) {
  for (const auto& [script, words] :
       {std::pair{"kill -9 $$", "killed by signal 9"},
        std::pair{"echo gone >&2; exit 1", "exited with status 1; it last said: gone"},
        std::pair{"printf '{\"ok\": tr'; exit 1", "exited with status 1"},
        std::pair{R"(echo '{"ok": false, "code": "RUNTIME_DEVICE", "message": "NRT 1204"}'; read end)", "NRT 1204"}}) {
    SCOPED_TRACE(script);
    Running running(script);
    const auto outcome = running.run();
    EXPECT_EQ(outcome.kind, RunOutcome::Kind::crashed);
    EXPECT_THAT(outcome.words, HasSubstr(words));
  }
}

TEST(CommandRun, AHangingOneIsLateAndLeavesNobodyBehind) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "pid";
  Running running("setsid sleep 600 & echo $! > " + file.native() + "; wait");
  EXPECT_EQ(running.run(0, 2).kind, RunOutcome::Kind::late);
  ASSERT_GT(read_pid(file), 0);
  EXPECT_TRUE(is_gone(read_pid(file)));
}

/// The program that the project ships as an example, over the simulator.
jobs::CommandSpec example() {
  ::setenv("NKIGRID_DEVICE_NKISIM", NKIGRID_BUILD_DIR "/nkisim", 1);
  jobs::CommandSpec spec;
  spec.name = "example 1";
  const std::string program = NKIGRID_SOURCE_DIR "/configs/command-example/site_device.py";
  spec.compile = {"/usr/bin/python3", program, "compile"};
  spec.verify = {"/usr/bin/python3", program, "verify"};
  return spec;
}

std::unique_ptr<Device> make(const jobs::CommandSpec& spec, const jobs::CheckSpec& check = {}) {
  return make_device({{}, spec}, check, 7, nullptr, test_paths());
}

TEST(CommandDevice, GivesTheVerdictsOfTheSimulatorItWraps) {
  TestDevice simulator;
  const auto device = make(example());
  EXPECT_EQ(device->backend(), "command");
  EXPECT_TRUE(device->is_hardware());
  EXPECT_FALSE(simulator.device->is_hardware());
  EXPECT_EQ(device->compiler(), "example 1");
  for (const char* file : {"good.py", "wrong_sign.py", "half_stored.py", "wrong_shape.py", "invented_name.py"}) {
    SCOPED_TRACE(file);
    const auto here = device->compile(small_task(), data_file(file), std::nullopt),
               there = simulator.compile(data_file(file));
    ASSERT_EQ(here.ok(), there.ok()) << here.diagnostic.message;
    EXPECT_EQ(here.diagnostic.code, there.diagnostic.code);
    EXPECT_EQ(here.diagnostic.line, there.diagnostic.line);
    EXPECT_EQ(here.diagnostic.message, there.diagnostic.message);
    if (!here.ok()) continue;
    EXPECT_EQ(here.estimate_us, there.estimate_us);
    const auto a = device->final_check(small_task(), *here.artifact),
               b = simulator.device->final_check(small_task(), *there.artifact);
    EXPECT_EQ(a.paper_ok, b.paper_ok) << a.diagnostic.message;
    EXPECT_EQ(a.strict_ok, b.strict_ok);
    EXPECT_EQ(a.diagnostic.code, b.diagnostic.code) << a.diagnostic.message;
    EXPECT_EQ(a.trials_passed, b.trials_passed);
    EXPECT_EQ(std::isnan(a.rel_l2), std::isnan(b.rel_l2));
    EXPECT_TRUE(std::isnan(b.rel_l2) || a.rel_l2 == b.rel_l2) << a.rel_l2 << " and " << b.rel_l2;
  }
}

TEST(CommandDevice, ADeviceWhoseCanaryFailsIsRefusedWithItsLastWords) {
  auto spec = example();
  spec.verify = {"sh", "-c", "echo 'no core is free' >&2; exit 9"};
  try {
    make(spec);
    FAIL() << "no canary was asked";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("canary"), HasSubstr("no core is free")));
  }
}

TEST(CommandDevice, TheCanaryTellsAKernelThatKillsItsCompilerFromACompilerThatDies) {
  auto spec = example();
  const TemporaryDirectory folder;
  const auto broken = (folder.path() / "broken").native();
  spec.compile = {"sh", "-c",
                  "if [ -e " + broken + " ] || grep -q KILL kernel.py; then kill -9 $$; fi; exec python3 " +
                      example().compile[1] + " compile"};
  spec.compile.back().replace(spec.compile.back().find("exec python3"), 12, "exec /usr/bin/python3");
  const auto device = make(spec);
  const auto killer = device->compile(small_task(), "# KILL\n", std::nullopt);
  EXPECT_EQ(killer.diagnostic.code, Code::compiler_internal) << killer.diagnostic.message;
  std::ofstream(broken).put('x');
  const auto dead = device->compile(small_task(), "# KILL again\n", std::nullopt);
  EXPECT_EQ(dead.diagnostic.code, Code::infra);
  EXPECT_THAT(dead.diagnostic.message, HasSubstr("the canary kernel fails too"));
}

}  // namespace
}  // namespace nkigrid::device
