#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nkigrid::test {

/// What the server does with one request: raw bytes, then the connection is kept, closed, or held open in silence.
struct Step {
  enum class After { keep, close, hang };
  std::string bytes;
  After after = After::keep;
};

inline std::string http(int status, const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\ncontent-length: " + std::to_string(body.size()) + "\r\n" +
         headers + "\r\n" + body;
}

/// A raw-socket HTTP server on a free port of 127.0.0.1 which plays its steps in order, the last one for ever.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<Step> steps) : steps_(std::move(steps)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("cannot listen on 127.0.0.1");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::jthread([this] { accept_all(); });
  }

  ~ScriptedServer() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : connections_) ::shutdown(fd, SHUT_RDWR);
    }
    workers_.clear();  // joins
    for (const int fd : connections_) ::close(fd);
    ::close(listener_);
  }
  ScriptedServer(const ScriptedServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }
  std::size_t connections() const {
    const std::lock_guard lock(mutex_);
    return connections_.size();
  }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void accept_all() {
    while (!stopping_) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      const std::lock_guard lock(mutex_);
      connections_.push_back(fd);
      workers_.emplace_back([this, fd] { serve(fd); });
    }
  }

  /// Reads one whole request. @returns false at the end of the connection
  bool read_request(int fd) {
    std::string bytes;
    char buffer[65536];
    for (;;) {
      const std::size_t end = bytes.find("\r\n\r\n");
      if (end != std::string::npos) {
        const std::size_t at = bytes.find("Content-Length: ");
        const std::size_t length = at == std::string::npos ? 0 : std::stoul(bytes.substr(at + 16));
        if (bytes.size() >= end + 4 + length) break;
      }
      const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
      if (n <= 0) return false;
      bytes.append(buffer, static_cast<std::size_t>(n));
    }
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(bytes));
    return true;
  }

  void serve(int fd) {
    while (read_request(fd)) {
      Step step;
      {
        const std::lock_guard lock(mutex_);
        step = steps_[std::min(next_++, steps_.size() - 1)];
      }
      for (std::size_t sent = 0; sent < step.bytes.size();) {
        const ssize_t n = ::send(fd, step.bytes.data() + sent, step.bytes.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) return;
        sent += static_cast<std::size_t>(n);
      }
      if (step.after == Step::After::close) {
        ::shutdown(fd, SHUT_RDWR);
        return;
      }
      // Silence: the next read returns when the client gives up.
    }
  }

  std::vector<Step> steps_;
  std::size_t next_ = 0;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<int> connections_;
  std::vector<std::string> requests_;
  std::vector<std::jthread> workers_;
  std::jthread acceptor_;
};

}  // namespace nkigrid::test
