#include "runner/device/neuron/cores.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <string>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/device/backend.hpp"

namespace nkigrid::device {
namespace {

using testing::HasSubstr;

struct Cores {
  TemporaryDirectory parent;
  std::atomic<int> proofs{0};
  std::string failure;
  CorePool pool(std::vector<std::uint32_t> cores) {
    return CorePool(parent.path() / "cores", std::move(cores), [this](std::uint32_t) { return ++proofs, failure; });
  }
  std::filesystem::path file(int core) const { return parent.path() / "cores" / ("core-" + std::to_string(core)); }
};

TEST(CorePool, CoreIsProvedOnceAndAgainAfterAFailure) {
  Cores cores;
  auto pool = cores.pool({3});
  { EXPECT_EQ(pool.lease().core(), 3U); }
  { const auto again = pool.lease(); }
  EXPECT_EQ(cores.proofs, 1);
  { pool.lease().mark_suspect(); }
  { const auto after = pool.lease(); }
  EXPECT_EQ(cores.proofs, 2);
}

TEST(CorePool, OneCoreHasOneOwnerAtATime) {
  Cores cores;
  auto first = cores.pool({0}), second = cores.pool({0});
  std::atomic<bool> released{false};
  std::optional<CoreLease> lease(first.lease());
  auto waiting = std::async(std::launch::async, [&] {
    const auto mine = second.lease();
    return released.load();
  });
  released = true;
  lease.reset();
  EXPECT_TRUE(waiting.get()) << "leased while another pool had it";
}

TEST(CorePool, AnotherProcessesCoreIsLeftAloneUntilItIsKilled) {
  Cores cores;
  auto pool = cores.pool({0, 1});
  { const auto a = pool.lease(), b = pool.lease(); }
  EXPECT_EQ(cores.proofs, 2);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const int fd = ::open(cores.file(0).c_str(), O_RDWR);
    ::flock(fd, LOCK_EX);
    static_cast<void>(!::ftruncate(fd, 0));
    static_cast<void>(!::pwrite(fd, "busy\n", 5, 0));
    static_cast<void>(!::write(ready[1], "x", 1));
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pool.lease().core(), 1U);
  EXPECT_EQ(cores.proofs, 2);
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  {
    const auto a = pool.lease(), b = pool.lease();
    EXPECT_NE(a.core(), b.core());
  }
  EXPECT_EQ(cores.proofs, 3) << "what the killed owner left is proved first";
}

TEST(CorePool, CoresThatFailTwiceAreRetiredAndNoneLeftStopsTheRun) {
  Cores cores;
  cores.failure = "element [0, 0] is 0, not 4";
  auto pool = cores.pool({0, 7});
  try {
    pool.lease();
    FAIL() << "no core works";
  } catch (const DeviceLost& error) {
    EXPECT_THAT(error.what(), HasSubstr("core 0: element [0, 0] is 0, not 4; core 7: element [0, 0] is 0, not 4"));
    EXPECT_EQ(error.code(), ErrorCode::external);
  }
  EXPECT_EQ(cores.proofs, 4);
  cores.failure.clear();
  EXPECT_THROW(pool.lease(), DeviceLost) << "retired for good";
  EXPECT_EQ(cores.proofs, 4);
  auto later = cores.pool({0});
  EXPECT_EQ(later.lease().core(), 0U) << "another process tries it anew";
}

TEST(CorePool, FolderThatOthersMayWriteIsRefused) {
  TemporaryDirectory parent;
  const auto folder = parent.path() / "cores";
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  EXPECT_THROW(CorePool(folder, {0}, [](std::uint32_t) { return std::string(); }), Error);
}

}  // namespace
}  // namespace nkigrid::device
