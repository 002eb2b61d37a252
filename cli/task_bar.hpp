#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace nkigrid::cli {

/// How far work over many tasks is: a line on stderr that is rewritten on a terminal, nothing elsewhere.
class TaskBar {
 public:
  /// @param marked what is said of the tasks that are counted apart, e.g. "with a fault"
  explicit TaskBar(std::string marked);
  ~TaskBar();  ///< wipes the line
  TaskBar(const TaskBar&) = delete;
  TaskBar& operator=(const TaskBar&) = delete;

  /// @param marked how many of those that are done are counted apart @threads safe
  void show(std::size_t done, std::size_t total, std::size_t marked);

 private:
  std::mutex mutex_;
  std::string marked_;
  bool shown_, begun_ = false;
};

}  // namespace nkigrid::cli
