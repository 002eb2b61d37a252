// Attacks by kernels (tests/data/device/attacks), while other lanes work: each ends as it should, nobody else notices,
// and nothing of it stays behind. A canary key and a canary file are never read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/device/small_task.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kCanary = "canary-5471-9d0c";

struct Attack {
  std::string name, outcome, words, code;
};

std::vector<Attack> read_attacks() {
  std::istringstream lines(data_file("attacks/attacks.txt"));
  std::vector<Attack> attacks;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("=== ")) {
      if (!attacks.empty()) attacks.back().code += line + "\n";
      continue;
    }
    const auto colon = line.rfind(": ");
    const auto right = line.substr(colon + 2);
    const auto slash = right.find(" / ");
    attacks.push_back({line.substr(4, colon - 4), right.substr(0, slash),
                       slash == std::string::npos ? "" : right.substr(slash + 3), ""});
  }
  return attacks;
}

/// What a kernel could leave: files where anybody may write, sockets, processes of ours.
std::set<std::string> traces() {
  std::set<std::string> found;
  std::error_code ignored;
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm", "."}) {
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const auto name = entry.path().native();
      if (name.find("nkigrid-attack") != std::string::npos) found.insert(name);
    }
  }
  for (const auto& entry : fs::directory_iterator("/proc/self/task", ignored)) {
    std::istringstream children(read_file(entry.path() / "children"));
    for (std::string child; children >> child;) found.insert("process " + child);
  }
  std::size_t sockets = 0;  // to children that wait for work: others after each check, but as many
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", ignored)) {
    auto open = fs::read_symlink(entry, ignored).native();
    if (open.starts_with("socket:")) open = "socket " + std::to_string(++sockets);
    // The device keeps memory for outputs, as much as was in use at once; this listing is open, too.
    if (!open.starts_with("/memfd:nkigrid-outputs") && !open.starts_with("/proc/")) found.insert("descriptor " + open);
  }
  return found;
}

/// Modification of the files that a kernel may read.
std::map<std::string, fs::file_time_type> library_times() {
  std::map<std::string, fs::file_time_type> times;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(NKIGRID_BUILD_DIR) / "nkisim")) {
    if (entry.is_regular_file()) times[entry.path().native()] = entry.last_write_time();
  }
  return times;
}

std::string outcome_of(const CompileResult& compiled, const std::optional<VerifyResult>& verified) {
  const auto& why = verified ? verified->diagnostic : compiled.diagnostic;
  if (why.code == Code::none) return "pass";
  return std::string(to_string(nkigrid::outcome_of(why.code, why.stage)));
}

constexpr std::size_t kLanes = 2;  ///< work at once below

TEST(Attack, EachEndsAsItShouldAndLeavesNothing) {
  ::setenv("NKIGRID_CANARY", kCanary, 1);
  const TemporaryDirectory folder;
  const auto canary = folder.path() / "canary";
  write_file_atomic(canary, kCanary);
  ::chmod(canary.c_str(), 0644);  // open to all: what keeps kernels out is not its mode
  ::chmod(folder.path().c_str(), 0755);
  TestDevice test;
  const auto honest = data_file("good.py");
  const auto good = test.compile(honest);
  ASSERT_TRUE(good.ok()) << good.diagnostic.message;
  ASSERT_TRUE(test.device->final_check(small_task(), *good.artifact).paper_ok);  // the references are drawn
  ASSERT_TRUE(test.device->verify(small_task(), *good.artifact, Stream::tool, 1).paper_ok);
  const auto before = traces();
  const auto library = library_times();

  std::atomic<bool> done = false;
  std::atomic<int> turns = 0, disturbed = 0;
  std::jthread lane([&] {
    for (int n = 0; !done; ++n) {
      const auto compiled = test.device->compile(small_task(), honest + "# " + std::to_string(n) + "\n", std::nullopt);
      const bool fine =
          compiled.ok() && test.device->verify(small_task(), *compiled.artifact, Stream::tool, 1).paper_ok;
      ++(fine ? turns : disturbed);
    }
  });
  const auto attacks = read_attacks();
  const auto head = data_file("attacks/preamble.py") + "CANARY = \"" + canary.native() + "\"\n\n\n";
  for (const auto& attack : attacks) {
    SCOPED_TRACE(attack.name);
    const auto kernel = honest.substr(honest.find("@nki.jit"));
    const auto compiled = test.compile(head + attack.code + "\n\n" + kernel);
    std::optional<VerifyResult> verified;
    if (compiled.ok()) verified = test.device->final_check(small_task(), *compiled.artifact);
    const auto& message = verified ? verified->diagnostic.message : compiled.diagnostic.message;
    EXPECT_EQ(outcome_of(compiled, verified), attack.outcome) << message;
    EXPECT_THAT(message, HasSubstr(attack.words));
    EXPECT_THAT(message, Not(HasSubstr(kCanary)));
    for (const auto& warning : compiled.warnings) EXPECT_THAT(warning, Not(HasSubstr(kCanary)));
    EXPECT_LT(compiled.seconds, 60);
  }
  done = true;
  lane.join();
  EXPECT_GE(attacks.size(), 60U);
  EXPECT_GT(turns, 0);
  EXPECT_EQ(disturbed, 0) << "of " << turns + disturbed << " honest kernels beside them";
  EXPECT_EQ(library_times(), library);
  const auto left = [&] {
    auto after = traces();
    std::erase_if(after, [&](const auto& trace) { return before.contains(trace); });
    return after;
  };
  // By a socket the device hears that the child which last used some memory for outputs has ended, and takes it back
  // when it next wants some: those of children that ended late are gone once another kernel ran.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (left().size() > kLanes && std::chrono::steady_clock::now() < deadline)
    ASSERT_TRUE(test.device->verify(small_task(), *good.artifact, Stream::tool, 1).paper_ok);
  const auto after = left();
  EXPECT_LE(after.size(), kLanes);
  for (const auto& trace : after) EXPECT_TRUE(trace.starts_with("descriptor socket ")) << trace;
}

}  // namespace
}  // namespace nkigrid::device
