#include "runner/proc/frame.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "jobs/base/error.hpp"
#include "jobs/base/json_depth.hpp"

namespace nkigrid::proc {
namespace {

constexpr std::size_t kMostDescriptors = 8;
using Ancillary = std::array<char, CMSG_SPACE(sizeof(int) * kMostDescriptors)>;

bool wait_for(int fd, short events, Deadline deadline) {
  for (;;) {
    // Rounded up, so that it is not asked in vain just before; a deadline that has passed is a look, and no wait.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd watched{fd, events, 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) throw_errno(errno, "wait for a child's socket");
    if (std::chrono::steady_clock::now() >= deadline) return false;
  }
}

void attach(msghdr& message, Ancillary& room, std::span<const int> descriptors) {
  if (descriptors.empty()) return;
  if (descriptors.size() > kMostDescriptors) throw Error(ErrorCode::internal, "too many descriptors in one message");
  message.msg_control = room.data();
  message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
  cmsghdr* part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
  std::memcpy(CMSG_DATA(part), descriptors.data(), sizeof(int) * descriptors.size());
}

void detach(msghdr& message, std::vector<Fd>& into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      into.emplace_back(fd);
    }
  }
}

enum class Filled { yes, closed, late, broken };

/// Reads exactly `size` bytes; descriptors that arrive on the way are kept.
Filled fill(int fd, char* into, std::size_t size, std::vector<Fd>& descriptors, Deadline deadline) {
  for (std::size_t used = 0; used < size;) {
    if (!wait_for(fd, POLLIN, deadline)) return Filled::late;
    Ancillary room;
    iovec part{into + used, size - used};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    const auto got = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return used == 0 ? Filled::closed : Filled::broken;
    detach(message, descriptors);
    if (descriptors.size() > kMostDescriptors) return Filled::broken;
    used += static_cast<std::size_t>(got);
  }
  return Filled::yes;
}

ReadResult stopped(Filled why, bool inside_a_frame) {
  if (why == Filled::late) return {ReadEnd::late, {}};
  return {why == Filled::closed && !inside_a_frame ? ReadEnd::closed : ReadEnd::broken, {}};
}

}  // namespace

Deadline deadline_after(double seconds) {
  const auto bounded = std::clamp(seconds, 0.0, 366.0 * 86400.0);
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(bounded));
}

bool wait_readable(int fd, Deadline deadline) { return wait_for(fd, POLLIN, deadline); }

bool write_frame(int fd, std::string_view head, std::string_view body, std::span<const int> descriptors,
                 Deadline deadline) {
  const std::array<std::uint32_t, 2> sizes = {static_cast<std::uint32_t>(head.size()),
                                              static_cast<std::uint32_t>(body.size())};
  std::string start(reinterpret_cast<const char*>(sizes.data()), sizeof sizes);
  start += head;
  const std::array<std::string_view, 2> pieces = {start, body};
  bool first = true;
  for (auto piece : pieces) {
    while (!piece.empty()) {
      if (!wait_for(fd, POLLOUT, deadline)) return false;
      Ancillary room;
      iovec part{const_cast<char*>(piece.data()), piece.size()};
      msghdr message{};
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      if (first) attach(message, room, descriptors);
      const auto put = ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (put < 0) return false;
      first = false;
      piece.remove_prefix(static_cast<std::size_t>(put));
    }
  }
  return true;
}

ReadResult read_frame(int fd, Deadline deadline, const FrameLimits& limits) {
  ReadResult result;
  std::array<std::uint32_t, 2> sizes{};
  auto filled = fill(fd, reinterpret_cast<char*>(sizes.data()), sizeof sizes, result.frame.descriptors, deadline);
  if (filled != Filled::yes) return stopped(filled, false);
  if (sizes[0] > limits.head_bytes || sizes[1] > limits.body_bytes) return {ReadEnd::broken, {}};
  result.frame.head.resize(sizes[0]);
  result.frame.body.resize(sizes[1]);
  for (auto* piece : {&result.frame.head, &result.frame.body}) {
    filled = fill(fd, piece->data(), piece->size(), result.frame.descriptors, deadline);
    if (filled != Filled::yes) return stopped(filled, true);
  }
  if (shallow_part(result.frame.head).size() != result.frame.head.size()) return {ReadEnd::broken, {}};
  result.end = ReadEnd::frame;
  return result;
}

SocketPair make_socket_pair(SocketKind kind) {
  int ends[2];
  const int type = kind == SocketKind::stream ? SOCK_STREAM : SOCK_SEQPACKET;
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) throw_errno(errno, "make a socket pair");
  return {Fd(ends[0]), Fd(ends[1])};
}

bool send_packet(int fd, std::string_view bytes, std::span<const int> descriptors) {
  Ancillary room;
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  attach(message, room, descriptors);
  for (;;) {
    if (::sendmsg(fd, &message, MSG_NOSIGNAL) >= 0) return true;
    if (errno != EINTR) return false;
  }
}

std::optional<Frame> receive_packet(int fd) {
  std::array<char, 4096> buffer;
  Ancillary room;
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return std::nullopt;
  Frame frame;
  frame.head.assign(buffer.data(), static_cast<std::size_t>(got));
  detach(message, frame.descriptors);
  return frame;
}

}  // namespace nkigrid::proc
