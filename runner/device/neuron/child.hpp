#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "jobs/base/files.hpp"
#include "runner/proc/frame.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::device {

inline constexpr double kEndSeconds = 2;  ///< from a socket that closed to the news of how its program ended

/// A single-use program of the vendor's (compiler or runtime) behind walls, with a socket to speak to it and a folder
/// that only it writes to. Whatever it starts ends with it: by nkigrid_confine, which a lifeline ties to us. @threads
/// one caller
class NeuronChild {
 public:
  struct Spec {
    std::filesystem::path confine;  ///< nkigrid_confine
    bool strict = true;
    std::vector<std::filesystem::path> readable;  ///< files and folders, the program's own included
    std::vector<std::filesystem::path> writable;  ///< devices; the scratch folder is writable anyhow
    std::vector<std::string> argv;                ///< "{scratch}" in an argument stands for that folder
    std::vector<std::string> environment;         ///< all there is, but HOME and TMPDIR, which lie in scratch
  };
  /// @throws Error{io} when it cannot be started
  explicit NeuronChild(const Spec& spec);
  ~NeuronChild();
  NeuronChild(const NeuronChild&) = delete;
  NeuronChild& operator=(const NeuronChild&) = delete;

  int work() const noexcept { return work_.get(); }
  /// Kills the program with all it started and reaps it. @returns how it ended, in words that a model may see; the same
  /// when asked again
  const std::string& kill();
  /// Closes the socket, which asks it to go, and gives it `grace` to do so before it is killed.
  const std::string& finish(Seconds grace);
  /// The end of what it wrote, for messages of the machinery: it names paths, process numbers, anything. @pre it has
  /// ended
  std::string last_words() const;
  /// True when it ended by a signal that stops programs (TERM, INT, HUP, USR1, USR2): a batch system sends those to all
  /// of a job.
  bool was_stopped() const noexcept { return stopped_; }

 private:
  const std::string& reap();

  TemporaryDirectory scratch_;  // removed after the program has ended
  Fd work_, lifeline_;
  proc::Process process_;
  std::string end_;
  bool stopped_ = false;
};

}  // namespace nkigrid::device
