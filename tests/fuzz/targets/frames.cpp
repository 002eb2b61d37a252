#include <sys/socket.h>

#include "runner/proc/frame.hpp"
#include "tests/fuzz/targets.hpp"

namespace nkigrid::fuzz {

void frames(std::string_view bytes) {
  const proc::FrameLimits limits{.head_bytes = 4096, .body_bytes = 4096};
  auto pair = proc::make_socket_pair(proc::SocketKind::stream);
  bytes = bytes.substr(0, 65536);  // what a socket holds while nobody reads
  const auto sent = ::send(pair.theirs.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  static_cast<void>(sent);
  pair.theirs.close();
  for (int n = 0; n < 100; ++n) {
    const auto read = proc::read_frame(pair.ours.get(), proc::deadline_after(10), limits);
    if (read.end == proc::ReadEnd::late) __builtin_trap();  // the other end is closed
    if (read.end != proc::ReadEnd::frame) return;
    if (read.frame.head.size() > limits.head_bytes || read.frame.body.size() > limits.body_bytes) __builtin_trap();
  }
}

}  // namespace nkigrid::fuzz
