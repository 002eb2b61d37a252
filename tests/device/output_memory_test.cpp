#include "runner/device/shared/output_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "runner/proc/fork_server.hpp"

namespace nkigrid::device {
namespace {

constexpr std::size_t kSize = 1 << 20;

/// A job whose server is this test.
struct Child {
  proc::SocketPair work = proc::make_socket_pair(proc::SocketKind::stream);
  proc::SocketPair status = proc::make_socket_pair(proc::SocketKind::packets);
  proc::Job job{std::move(work.ours), std::move(status.ours)};

  void end() {
    const std::array<std::int32_t, 2> killed = {2, 9};
    proc::send_packet(status.theirs.get(), {reinterpret_cast<const char*>(killed.data()), sizeof killed}, {});
  }
};

TEST(OutputPool, MemoryRestsUntilItsChildHasEnded) {
  OutputPool pool;
  auto memory = pool.take(kSize);
  const std::byte* const place = memory.mapping.bytes().data();
  Child child;
  pool.give_back_after(std::move(child.job), std::move(memory));
  const auto other = pool.take(kSize);
  EXPECT_NE(other.mapping.bytes().data(), place);
  child.end();
  EXPECT_EQ(pool.take(kSize).mapping.bytes().data(), place);
}

TEST(OutputPool, MemoryOfAChildThatNobodyKnowsOfIsNeverUsedAgain) {
  OutputPool pool;
  auto memory = pool.take(kSize);
  Child child;
  pool.give_back_after(std::move(child.job), std::move(memory));
  child.status.theirs = Fd();  // its server is gone, and it may still write
  const auto other = pool.take(kSize);
  const auto content = other.mapping.bytes();
  EXPECT_EQ(content[0], std::byte{0});
  EXPECT_EQ(content[kSize - 1], std::byte{0});
}

}  // namespace
}  // namespace nkigrid::device
