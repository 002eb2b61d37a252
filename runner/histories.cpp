#include "runner/histories.hpp"

#include <utility>

namespace nkigrid::runner {

void Histories::expect(std::vector<std::uint32_t> episodes) {
  const std::lock_guard lock(mutex_);
  expected_ = std::move(episodes);
}

std::vector<log::LoggedTurn> Histories::take(std::uint32_t episode) {
  {
    const std::lock_guard lock(mutex_);  // lanes that come meanwhile want the same pass
    read_expected();
    if (auto node = read_.extract(episode)) return std::move(node.mapped());
  }
  const auto key = key_of(episode);
  return log::read_history(log::log_of(run_), key.episode, key.key);
}

log::HistoryKey Histories::key_of(std::uint32_t episode) const {
  const auto& planned = run_.plan.episodes[episode];
  return {run_.plan.id_of(planned), run_.plan.key(planned.cell, planned.task)};
}

void Histories::read_expected() {
  if (expected_.empty()) return;
  const auto episodes = std::exchange(expected_, {});
  std::vector<log::HistoryKey> keys;
  for (const auto episode : episodes) keys.push_back(key_of(episode));
  auto histories = log::read_histories(log::log_of(run_), keys);
  for (std::size_t i = 0; i < episodes.size(); ++i) read_.emplace(episodes[i], std::move(histories[i]));
}

}  // namespace nkigrid::runner
