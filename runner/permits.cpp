#include "runner/permits.hpp"

#include <utility>

namespace nkigrid::runner {

bool RankPermits::acquire(const std::string& model, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  outgoing_.wanted.push_back(model);
  ++waiting_[model];
  lock.unlock();
  wake_();
  lock.lock();
  const bool got = granted_.wait(lock, stop, [&] { return free_[model] > 0; });
  --waiting_[model];
  if (got) --free_[model];
  return got;
}

void RankPermits::release(const std::string& model) {
  {
    std::lock_guard lock(mutex_);
    outgoing_.returned.push_back(model);
  }
  wake_();
}

RankPermits::Outgoing RankPermits::take_outgoing() {
  std::lock_guard lock(mutex_);
  return std::exchange(outgoing_, {});
}

void RankPermits::grant(const std::string& model) {
  std::lock_guard lock(mutex_);
  if (waiting_[model] <= free_[model]) {
    outgoing_.returned.push_back(model);  // the lane stopped waiting: the permit goes straight back
    return;
  }
  ++free_[model];
  granted_.notify_all();
}

PermitOffice::PermitOffice(const jobs::Grid& grid) {
  for (const auto& model : grid.models) desks_[model.name].limit = model.concurrency;
}

bool PermitOffice::want(const std::string& model, int rank) {
  auto& desk = desks_[model];
  if (desk.limit == 0 || desk.out < desk.limit) {
    ++desk.out;
    return true;
  }
  desk.line.push_back(rank);
  return false;
}

int PermitOffice::give_back(const std::string& model) {
  auto& desk = desks_[model];
  if (desk.line.empty()) {
    --desk.out;
    return -1;
  }
  const int rank = desk.line.front();
  desk.line.pop_front();
  return rank;
}

}  // namespace nkigrid::runner
