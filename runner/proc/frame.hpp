#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/base/files.hpp"

namespace nkigrid::proc {

using Deadline = std::chrono::steady_clock::time_point;

/// Now plus `seconds`. @param seconds [s], at most a year
Deadline deadline_after(double seconds);

/// One message on a stream socket: two byte strings and the descriptors that came with them
/// (docs/formats/child_protocol.md).
struct Frame {
  std::string head;  ///< small: JSON or fields
  std::string body;  ///< large: a program, a source
  std::vector<Fd> descriptors;
};

enum class ReadEnd { frame, closed, late, broken };
struct ReadResult {
  ReadEnd end = ReadEnd::closed;  ///< broken: not our protocol, or over the limits
  Frame frame;
};

/// Most bytes of a frame that a reader accepts; a hostile writer cannot make it hold more.
struct FrameLimits {
  std::uint32_t head_bytes = 1 << 20;
  std::uint32_t body_bytes = 16 << 20;
};

/// @returns false when the peer is gone or the deadline passed. @throws Error{io} for our own mistakes only.
bool write_frame(int fd, std::string_view head, std::string_view body, std::span<const int> descriptors,
                 Deadline deadline);

/// Reads one frame; a head that nests too deep is broken (json_depth.hpp). Never throws for what the peer does.
ReadResult read_frame(int fd, Deadline deadline, const FrameLimits& limits = {});

/// A connected pair of stream sockets, close-on-exec. @throws Error{io}
struct SocketPair {
  Fd ours, theirs;
};
enum class SocketKind { stream, packets };
SocketPair make_socket_pair(SocketKind kind);

/// Sends one packet with descriptors. @returns false when the peer is gone.
bool send_packet(int fd, std::string_view bytes, std::span<const int> descriptors);
/// Receives one packet of at most 4096 bytes. @returns nothing at the end of the stream.
std::optional<Frame> receive_packet(int fd);

/// Waits until `fd` is readable or has ended. @returns false at the deadline
bool wait_readable(int fd, Deadline deadline);

}  // namespace nkigrid::proc
