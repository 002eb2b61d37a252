#include "runner/permits.hpp"

#include <utility>

namespace nkigrid::runner {

OwnPermits own_permits(const jobs::Grid& grid, const jobs::EndpointPart& element, int rank, int ranks) {
  const jobs::EndpointPart part{static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(ranks)};
  OwnPermits own;
  for (const auto& endpoint : jobs::limited_endpoints(grid)) {
    const auto limit = element.of(endpoint.concurrency);
    if (endpoint.models.size() == 1 && limit >= part.at_once)
      own[grid.models[endpoint.models.front()].name] = part.of(limit);
  }
  return own;
}

bool RankPermits::take_beside_office(const std::string& model) {
  if (office_ == nullptr || !office_->take(model)) return false;
  const std::lock_guard lock(mutex_);
  ++lines_[model].held;
  return true;
}

bool RankPermits::acquire(const std::string& model, std::stop_token stop) {
  if (take_beside_office(model)) return true;
  std::unique_lock lock(mutex_);
  auto& line = lines_[model];
  if (line.waiting.size() == line.asked) {
    ++line.asked;
    outgoing_.wanted.push_back(model);
    wake_();
  }
  return line.waiting.wait(lock, stop);
}

/// @returns false when the permit is to go back; then the rank holds it no more
bool RankPermits::pass_on(const std::string& model) {
  const std::lock_guard lock(mutex_);
  auto& line = lines_[model];
  const auto own = own_.find(model);
  const bool passes = own != own_.end() && line.held <= own->second && line.waiting.pass();
  line.held -= passes ? 0 : 1;
  return passes;
}

void RankPermits::release(const std::string& model) {
  if (pass_on(model)) return;
  const auto next = office_ != nullptr ? office_->give_back(model) : std::nullopt;
  if (office_ != nullptr && !next) return;
  {
    std::lock_guard lock(mutex_);
    if (next)
      outgoing_.granted.push_back(*next);
    else
      outgoing_.returned.push_back(model);
  }
  wake_();
}

RankPermits::Outgoing RankPermits::take_outgoing() {
  std::lock_guard lock(mutex_);
  return std::exchange(outgoing_, {});
}

void RankPermits::grant(const std::string& model) {
  const std::lock_guard lock(mutex_);
  auto& line = lines_[model];
  --line.asked;
  if (line.waiting.pass())
    ++line.held;
  else
    outgoing_.returned.push_back(model);  // the lanes that waited stopped, or have others: it goes straight back
}

PermitOffice::PermitOffice(const jobs::Grid& grid, const jobs::EndpointPart& part) {
  for (const auto& endpoint : jobs::limited_endpoints(grid)) {
    for (const auto m : endpoint.models)
      models_[grid.models[m].name] = {.endpoint = endpoints_.size(), .limit = part.of(grid.models[m].concurrency)};
    endpoints_.push_back({.limit = part.of(endpoint.concurrency), .out = 0, .line = {}});
  }
}

bool PermitOffice::take_one(Model& model) {
  auto& endpoint = endpoints_[model.endpoint];
  if (endpoint.out >= endpoint.limit || model.out >= model.limit) return false;
  ++endpoint.out;
  ++model.out;
  return true;
}

bool PermitOffice::take_locked(const std::string& model) {
  const auto at = models_.find(model);
  return at == models_.end() || take_one(at->second);
}

bool PermitOffice::take(const std::string& model) {
  const std::lock_guard lock(*mutex_);
  return take_locked(model);
}

bool PermitOffice::want(const std::string& model, int rank) {
  const std::lock_guard lock(*mutex_);
  if (take_locked(model)) return true;
  endpoints_[models_.at(model).endpoint].line.push_back({model, rank});
  return false;
}

std::optional<PermitOffice::Grant> PermitOffice::give_back(const std::string& model) {
  const auto at = models_.find(model);
  if (at == models_.end()) return std::nullopt;
  const std::lock_guard lock(*mutex_);
  auto& endpoint = endpoints_[at->second.endpoint];
  --endpoint.out;
  --at->second.out;
  for (auto waiting = endpoint.line.begin(); waiting != endpoint.line.end(); ++waiting) {
    if (!take_one(models_.at(waiting->model))) continue;
    const auto grant = *waiting;
    endpoint.line.erase(waiting);
    return grant;
  }
  return std::nullopt;
}

}  // namespace nkigrid::runner
