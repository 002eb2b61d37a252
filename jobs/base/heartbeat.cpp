#include "jobs/base/heartbeat.hpp"

#include <utility>

#include <fmt/core.h>

#include "jobs/base/notice.hpp"

namespace nkigrid {

Heartbeat::Heartbeat(std::string doing, Seconds every, Say say) {
  if (doing.empty()) return;
  if (!say) say = [](const std::string& words) { notice("{}", words); };
  thread_ = std::thread([this, doing = std::move(doing), every, say = std::move(say)] { run(doing, every, say); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::run(const std::string& doing, Seconds every, const Say& say) {
  const SystemClock clock;
  const auto began = clock.monotonic();
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, every, [this] { return ended_; })) {
    say(fmt::format("{}: {:.0f} s", doing, (clock.monotonic() - began).count()));
  }
}

}  // namespace nkigrid
