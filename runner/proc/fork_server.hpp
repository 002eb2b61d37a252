#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/proc/child.hpp"
#include "runner/proc/frame.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::proc {

/// What a server is told, on its control socket, with the two descriptors of one more child to make.
inline constexpr std::string_view kOrder = "O", kTaken = "T";  // kTaken: and the oldest child is in use now

/// How a single-use child ended, told by its server.
struct JobEnd {
  ChildEnd end;
  std::string
      note;  ///< what the child was denied, in words; the child itself wrote it, so it is evidence of nothing but style
};

/// One single-use child at work. Move-only; killing it is a matter of letting go.
class Job {
 public:
  Job(Fd work, Fd status) : work_(std::move(work)), status_(std::move(status)) {}

  /// The stream to and from the child.
  int work() const noexcept { return work_.get(); }
  /// Asks the server to kill the child now, and hears nothing more of it but its end.
  void cancel() noexcept;
  /// Waits for the end of the child. @returns nothing when the server itself is gone or answers nothing in time.
  std::optional<JobEnd> wait(Deadline deadline);
  /// Has the child ended, or its server? wait() says which, without waiting.
  bool is_over() const;
  /// The same for a child that has nothing more to do: it has `grace` to go by itself, then it is killed.
  std::optional<JobEnd> end(Seconds grace, Seconds patience);

 private:
  Fd work_, status_;
};

/// A program that forks one single-use child a job, held by us over a socket (docs/formats/child_protocol.md). It dies
/// with us: when our end of the socket closes it kills its children and leaves.
class ForkServer {
 public:
  struct Spec {
    std::string name;  ///< for messages: "tracer server"
    std::vector<std::string> argv;
    std::vector<std::string> environment;
    std::size_t ahead = 1;  ///< children that wait for a job
  };
  /// Starts the server, with its end of the control socket as descriptor 3. @throws Error{external} naming it.
  explicit ForkServer(Spec spec);
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  /// Waits for the server's first packet. @returns its text. @throws Error{external} when it died or is late; the text
  /// holds what it said on its way out.
  std::string wait_ready(Seconds timeout);

  /// The next child, which waits already where the server had the time to make it. No word passes through the server:
  /// it hears that one was taken, and makes another. @throws Error{external} when the server is gone
  Job start();

  /// Ends it at once, with its children: for a server that gives no answers. The next start() finds it gone.
  void kill();

  const std::string& name() const noexcept { return spec_.name; }
  pid_t pid() const noexcept { return process_.pid; }

 private:
  Spec spec_;
  Fd control_;
  Fd errors_;  // read end of the server's stderr
  Process process_;
  std::deque<Job> ahead_;  ///< ordered and not taken, the oldest first

  void order(std::string_view packet);
  std::string last_words();
  std::string how_it_ended();
};

}  // namespace nkigrid::proc
