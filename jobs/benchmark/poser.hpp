#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nkigrid::jobs {

/// A task of which nothing is known but its text.
struct UnposedTask {
  std::string id, source;
  std::string category;  ///< where the text names none
};

/// What torch says of such a task.
struct PosedTask {
  std::string id;
  std::string refused;  ///< why it cannot be posed to NKI; empty: it is
  std::string entry;    ///< its object of our index, JSON; empty when refused
  std::string about;    ///< its object of about.json, JSON; empty when refused
  std::string source;   ///< its text, with other sizes when it was shrunk
};

struct PoseRequest {
  std::vector<UnposedTask> tasks;
  std::uint64_t max_task_bytes = 0;  ///< of all that a kernel gets and gives; more is refused
  bool shrink = false;               ///< sizes may be scaled down
};

/// Runs tasks to learn what a kernel gets and gives. The code of a task is anybody's, and this room starts no process:
/// whoever loads a benchmark that has no index hands in what can. @returns one answer a task, in order
using TaskPoser = std::function<std::vector<PosedTask>(const PoseRequest&)>;

}  // namespace nkigrid::jobs
