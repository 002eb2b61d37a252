#include "cli/http_server.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>

#include <fmt/core.h>

namespace nkigrid::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// @returns whether the socket can be read (POLLIN) or written (POLLOUT) within that time
bool is_ready(socket_t socket, short events, milliseconds wait) {
  pollfd watched{socket, events, 0};
  int found = 0;
  do {
    found = ::poll(&watched, 1, static_cast<int>(std::max(wait, milliseconds(0)).count()));
  } while (found < 0 && errno == EINTR);
  return found > 0;
}

/// Sees where a request's head ends: at the first empty line.
class HeadEnd {
 public:
  /// @returns whether the head ends with this byte, or ended before it
  bool pass(char byte) {
    if (ended_) return true;
    if (byte == '\n') {
      ended_ = is_line_empty_ && is_begun_;
      is_line_empty_ = is_begun_ = true;
    } else if (byte != '\r') {
      is_line_empty_ = false;
      is_begun_ = true;
    }
    return ended_;
  }

 private:
  bool is_begun_ = false, is_line_empty_ = true, ended_ = false;
};

/// One connection, a request after the other.
class BoundedStream : public httplib::Stream {
 public:
  BoundedStream(socket_t socket, milliseconds read_wait, milliseconds write_wait)
      : socket_(socket), read_wait_(read_wait), write_wait_(write_wait) {}

  void begin_request() {
    head_end_ = {};
    bytes_ = 0;
    status_ = 0;
    has_answered_ = false;
    deadline_ = Clock::now() + std::chrono::seconds(BoundedServer::kRequestSeconds);
  }

  /// @returns whether a request begins within that time
  bool has_more(milliseconds wait) const { return at_ < filled_ || is_ready(socket_, POLLIN, wait); }

  /// Says what was exceeded, where that is so and no answer is on its way. @returns whether the request was in bounds
  bool refuse() {
    if (status_ == 0) return true;
    const std::string_view line = status_ == 408   ? "408 Request Timeout"
                                  : status_ == 413 ? "413 Payload Too Large"
                                                   : "431 Request Header Fields Too Large";
    const auto answer = fmt::format("HTTP/1.1 {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", line);
    if (!has_answered_) send(answer.data(), answer.size());
    return false;
  }

  bool is_readable() const override { return has_more(read_wait()); }
  bool is_writable() const override { return is_ready(socket_, POLLOUT, write_wait_); }

  ssize_t read(char* to, size_t size) override {
    if (at_ == filled_ && !fill()) return status_ == 0 ? 0 : -1;
    size = std::min(size, filled_ - at_);
    for (std::size_t i = 0; i < size; ++i) {
      const bool in_head = !head_end_.pass(buffer_[at_ + i]);
      if (++bytes_ > (in_head ? BoundedServer::kMostHeadBytes : BoundedServer::kMostRequestBytes)) {
        status_ = in_head ? 431 : 413;
        return -1;
      }
      to[i] = buffer_[at_ + i];
    }
    at_ += size;
    return static_cast<ssize_t>(size);
  }

  ssize_t write(const char* from, size_t size) override {
    if (status_ != 0 && !has_answered_) return -1;  // the library knows of a broken request only
    has_answered_ = true;
    return send(from, size);
  }

  // Nothing that is served asks who calls.
  void get_remote_ip_and_port(std::string& /*ip*/, int& port) const override { port = 0; }
  void get_local_ip_and_port(std::string& /*ip*/, int& port) const override { port = 0; }
  socket_t socket() const override { return socket_; }

 private:
  /// What the next byte may be waited for: what its own limit and the request's leave.
  milliseconds read_wait() const {
    return std::min(read_wait_, std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()));
  }

  ssize_t send(const char* from, std::size_t size) const {
    return is_writable() ? ::send(socket_, from, size, MSG_NOSIGNAL) : -1;
  }

  /// @returns false at the end of what is sent, and where no more comes in time (status_ says so)
  bool fill() {
    ssize_t got = -1;
    if (const auto wait = read_wait(); wait > milliseconds(0) && is_ready(socket_, POLLIN, wait)) {
      do {
        got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
      } while (got < 0 && errno == EINTR);
    } else if (bytes_ > 0) {
      status_ = 408;
    }
    at_ = 0;
    filled_ = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    return got > 0;
  }

  socket_t socket_;
  milliseconds read_wait_, write_wait_;
  Clock::time_point deadline_;
  HeadEnd head_end_;
  std::size_t bytes_ = 0;  ///< of this request
  int status_ = 0;         ///< of the refusal
  bool has_answered_ = false;
  std::array<char, 4096> buffer_;
  std::size_t at_ = 0, filled_ = 0;
};

}  // namespace

bool BoundedServer::process_and_close_socket(socket_t socket) {
  const std::chrono::seconds read_wait(read_timeout_sec_), write_wait(write_timeout_sec_),
      idle(keep_alive_timeout_sec_);
  BoundedStream stream(socket, read_wait, write_wait);
  bool is_open = true;
  for (auto left = keep_alive_max_count_; is_open && left > 0 && svr_sock_ != INVALID_SOCKET; --left) {
    if (!stream.has_more(idle)) break;
    stream.begin_request();
    bool is_closed = false;
    is_open = process_request(stream, left == 1, is_closed, nullptr) && !is_closed;
    is_open = stream.refuse() && is_open;
  }
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return is_open;
}

}  // namespace nkigrid::cli
