#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runner/proc/frame.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::device {

/// One of a site's programs at work, with a folder of its own. When this object goes, so do the program and all it
/// started: a keeper (nkigrid_confine) stands between us, which also sees to that when we are killed. @threads one
/// caller
class CommandProcess {
 public:
  struct Spec {
    std::filesystem::path keeper;  ///< nkigrid_confine
    std::vector<std::string> argv;
    std::filesystem::path folder;          ///< where it starts
    std::vector<std::string> environment;  ///< NAME=value, all there is
  };
  /// @throws Error{io} when the keeper cannot be started. A program that cannot be is one that ended with status 127.
  explicit CommandProcess(const Spec& spec);
  ~CommandProcess();
  CommandProcess(const CommandProcess&) = delete;
  CommandProcess& operator=(const CommandProcess&) = delete;

  enum class Got {
    line,   ///< one line, or what it said without an end of line before it ended
    ended,  ///< it ended without an answer
    late,
    flood  ///< more than a reply may have, or words before it was asked
  };
  struct Answer {
    Got got = Got::ended;
    std::string line;
  };
  enum class Then { more, close };  ///< after the line: more will come, or its standard input ends
  /// Sends one line and waits for one; with nothing to send, for what it says by itself.
  Answer ask(std::string_view line, Then then, proc::Deadline deadline);
  /// Waits for its end. @returns false at the deadline, or when it said more
  bool finish(proc::Deadline deadline);

  /// Kills what still runs, and reaps it. @returns how the program ended (Signaled{SIGKILL} when it was us)
  proc::ChildEnd stop();
  bool has_ended() const noexcept { return ended_; }
  /// The last lines of its stderr, in one line of valid UTF-8; "" when it said nothing.
  std::string last_words() const;
  /// "the compile program 'NAME' WHAT; it last said: ...", without its folder: no path of ours reaches a model.
  /// @param role "compile program"; @param name of the spec
  std::string describe(std::string_view role, std::string_view name, std::string_view what) const;

 private:
  enum class Step { moved, late };
  Step step(std::string_view& to_send, Then then, proc::Deadline deadline);
  void drain();

  std::filesystem::path folder_;
  Fd input_, output_, errors_, lifeline_;
  proc::Process process_;
  std::string out_, err_;
  bool ended_ = false, reaped_ = false;
  proc::ChildEnd end_;
};

/// What a site's program gets of our environment (docs/formats/command_protocol.md), and TMPDIR = `scratch`.
std::vector<std::string> command_environment(const std::filesystem::path& scratch);

}  // namespace nkigrid::device
