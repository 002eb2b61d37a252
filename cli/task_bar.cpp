#include "cli/task_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "runner/progress.hpp"

namespace nkigrid::cli {
namespace {

constexpr std::size_t kBarWidth = 40;

}  // namespace

TaskBar::TaskBar(std::string marked) : marked_(std::move(marked)), shown_(runner::is_terminal(STDERR_FILENO)) {}

TaskBar::~TaskBar() {
  if (begun_) fmt::print(stderr, "\r\x1b[K");
}

void TaskBar::show(std::size_t done, std::size_t total, std::size_t marked) {
  const std::lock_guard lock(mutex_);
  if (!shown_) return;
  begun_ = true;
  const auto filled = kBarWidth * done / std::max<std::size_t>(total, 1);
  fmt::print(stderr, "\r\x1b[K[{:=<{}}{: <{}}] {} of {} tasks, {} {}", "", filled, "", kBarWidth - filled, done, total,
             marked, marked_);
}

}  // namespace nkigrid::cli
