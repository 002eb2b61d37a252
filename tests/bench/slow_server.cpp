// slow_server DELAY_SECONDS: a chat-completions endpoint that answers each request DELAY after it came, with words and
// no kernel. Prints its port; when its stdin closes, what it saw, as JSON: requests, the most in flight, slot seconds
// (the integral of requests in flight) and seconds between the first request and the last answer. A request is in
// flight from its last byte to the answer's first. One thread; its own cost is none of what bench_models.py measures.
#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>

namespace {
using Clock = std::chrono::steady_clock;

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::string answer_text() {
  const std::string body =
      R"({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": )"
      R"("I have no kernel."}}], "usage": {"prompt_tokens": 1000, "completion_tokens": 5}})";
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", body.size(),
                     body);
}

struct Seen {
  std::uint64_t requests = 0, in_flight = 0, most = 0;
  double slot_seconds = 0;
  Clock::time_point first{}, last{};

  void count(int change, Clock::time_point now) {
    if (requests == 0) first = last = now;
    slot_seconds += static_cast<double>(in_flight) * seconds(now - last);
    last = now;
    in_flight += static_cast<std::uint64_t>(change);
    most = std::max(most, in_flight);
    requests += change > 0 ? 1 : 0;
  }
};

/// The length of the first request in `bytes`, head and body; 0 while it is not whole.
std::size_t whole_request(const std::string& bytes) {
  const auto end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return 0;
  std::string head = bytes.substr(0, end);
  std::transform(head.begin(), head.end(), head.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto at = head.find("content-length:");
  const auto length = at == std::string::npos ? 0 : std::strtoul(head.c_str() + at + 15, nullptr, 10);
  return bytes.size() >= end + 4 + length ? end + 4 + length : 0;
}

class Server {
 public:
  explicit Server(Clock::duration delay) : delay_(delay), answer_(answer_text()) {
    sockaddr_in at{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof at;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&at), size);
    ::listen(listener_, 4096);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    fmt::print("{}\n", ntohs(at.sin_port));
    std::fflush(stdout);
    watch(listener_);
    watch(STDIN_FILENO);
  }

  /// Until stdin closes.
  Seen serve() {
    std::array<epoll_event, 256> events;
    for (;;) {
      const int n = wait(events);
      for (int i = 0; i < n; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == STDIN_FILENO) return seen_;
        fd == listener_ ? accept() : receive(fd);
      }
      answer_what_is_due();
    }
  }

 private:
  struct Due {
    Clock::time_point at;
    int fd;
  };

  void watch(int fd) const {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  int wait(std::array<epoll_event, 256>& events) const {
    if (due_.empty()) return ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
    const auto left = std::max(Clock::duration(0), due_.front().at - Clock::now());
    const timespec time{.tv_sec = left / std::chrono::seconds(1), .tv_nsec = (left % std::chrono::seconds(1)).count()};
    return ::epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &time, nullptr);
  }

  void accept() {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(fd);
  }

  void receive(int fd) {
    std::array<char, 65536> buffer;
    const auto n = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (n <= 0) {
      half_.erase(fd);
      ::close(fd);
      return;
    }
    auto& bytes = half_[fd];
    bytes.append(buffer.data(), static_cast<std::size_t>(n));
    for (auto length = whole_request(bytes); length > 0; length = whole_request(bytes)) {
      bytes.erase(0, length);
      const auto now = Clock::now();
      seen_.count(1, now);
      due_.push_back({now + delay_, fd});
    }
  }

  void answer_what_is_due() {
    for (auto now = Clock::now(); !due_.empty() && due_.front().at <= now; due_.pop_front()) {
      seen_.count(-1, now);
      if (::send(due_.front().fd, answer_.data(), answer_.size(), MSG_NOSIGNAL) < 0) continue;
    }
  }

  Clock::duration delay_;
  std::string answer_;
  int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::map<int, std::string> half_;  ///< what came of requests that are not whole
  std::deque<Due> due_;              ///< all wait as long: oldest first
  Seen seen_;
};

}  // namespace

int main(int, char** argv) {
  const auto delay = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::atof(argv[1])));
  const Seen seen = Server(delay).serve();
  fmt::print(R"({{"requests": {}, "most": {}, "slot_seconds": {}, "s": {}}})"
             "\n",
             seen.requests, seen.most, seen.slot_seconds, seconds(seen.last - seen.first));
}
