#include "runner/proc/frame.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "runner/proc/shared_memory.hpp"

namespace nkigrid::proc {
namespace {

TEST(Frame, CarriesBytesAndDescriptors) {
  auto pair = make_socket_pair(SocketKind::stream);
  const auto memory = make_shared_memory("test", 16);
  const std::array<int, 1> descriptors = {memory.get()};
  const std::string body("a\0b", 3);
  ASSERT_TRUE(write_frame(pair.ours.get(), "head", body, descriptors, deadline_after(5)));
  const auto result = read_frame(pair.theirs.get(), deadline_after(5));
  ASSERT_EQ(result.end, ReadEnd::frame);
  EXPECT_EQ(result.frame.head, "head");
  EXPECT_EQ(result.frame.body, body);
  ASSERT_EQ(result.frame.descriptors.size(), 1U);
  EXPECT_EQ(file_size(result.frame.descriptors[0].get()), 16U);
}

TEST(Frame, LargerThanTheSocketBufferGoesThrough) {
  auto pair = make_socket_pair(SocketKind::stream);
  const std::string body(5'000'000, 'x');
  std::thread writer([&] { EXPECT_TRUE(write_frame(pair.ours.get(), "h", body, {}, deadline_after(20))); });
  const auto result = read_frame(pair.theirs.get(), deadline_after(20));
  writer.join();
  ASSERT_EQ(result.end, ReadEnd::frame);
  EXPECT_EQ(result.frame.body, body);
}

TEST(Frame, WriterWhoseReaderDoesNotReadIsLate) {
  auto pair = make_socket_pair(SocketKind::stream);
  EXPECT_FALSE(write_frame(pair.ours.get(), "h", std::string(5'000'000, 'x'), {}, deadline_after(0.05)));
}

TEST(Frame, ADeadlineThatHasPassedIsALookAndNoWait) {
  const auto pair = make_socket_pair(SocketKind::stream);
  const auto waits = [] {
    rusage used{};
    ::getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
  };
  const auto before = waits();
  for (int look = 0; look < 50; ++look) EXPECT_FALSE(wait_readable(pair.ours.get(), deadline_after(0)));
  EXPECT_LT(waits() - before, 25) << "each look gave the processor away";
}

TEST(Frame, EndsAreToldApart) {
  auto pair = make_socket_pair(SocketKind::stream);
  EXPECT_EQ(read_frame(pair.theirs.get(), deadline_after(0.01)).end, ReadEnd::late);
  ASSERT_EQ(::write(pair.ours.get(), "\x05\0\0\0\0\0\0\0ab", 10), 10);
  pair.ours = Fd();
  EXPECT_EQ(read_frame(pair.theirs.get(), deadline_after(5)).end, ReadEnd::broken) << "cut inside a frame";
  EXPECT_EQ(read_frame(pair.theirs.get(), deadline_after(5)).end, ReadEnd::closed);
}

TEST(Frame, SizesOverTheLimitAreRefusedUnread) {
  auto pair = make_socket_pair(SocketKind::stream);
  ASSERT_EQ(::write(pair.ours.get(), "\xff\xff\xff\x7f\0\0\0\0", 8), 8);
  EXPECT_EQ(read_frame(pair.theirs.get(), deadline_after(5)).end, ReadEnd::broken);
}

TEST(Frame, AHeadThatNestsWithoutEndIsRefusedBeforeAnybodyParsesIt) {
  for (const auto& [depth, end] :
       {std::pair{256, ReadEnd::frame}, {257, ReadEnd::broken}, {100'000, ReadEnd::broken}}) {
    auto pair = make_socket_pair(SocketKind::stream);
    const auto count = static_cast<std::size_t>(depth);
    const auto head = std::string(count, '[') + std::string(count, ']');
    std::thread writer([&] { write_frame(pair.ours.get(), head, "body", {}, deadline_after(20)); });
    EXPECT_EQ(read_frame(pair.theirs.get(), deadline_after(20)).end, end) << depth;
    writer.join();
  }
}

TEST(SharedMemory, NeitherSideCanShrinkIt) {
  const auto memory = make_shared_memory("test", 8192);
  EXPECT_NE(::ftruncate(memory.get(), 0), 0);
  auto mapping = Mapping::map(memory.get(), 8192, Mapping::Access::read_write);
  mapping.writable()[8191] = std::byte{7};
  EXPECT_EQ(Mapping::map(memory.get(), 8192, Mapping::Access::read_only).bytes()[8191], std::byte{7});
}

}  // namespace
}  // namespace nkigrid::proc
