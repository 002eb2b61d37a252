#include "runner/waiting_list.hpp"

#include <algorithm>

namespace nkigrid::runner {

void WaitingList::add_back(std::uint32_t episode, const std::string& failed_on) {
  back_[failed_on].push_back(episode);
  ++returned_;
}

std::optional<std::uint32_t> WaitingList::take(const std::optional<std::string>& avoided,
                                               const std::function<const std::string&(std::uint32_t)>& failed_on) {
  while (next_ < order_.size()) {
    const auto episode = order_[next_++];
    if (!avoided || failed_on(episode) != *avoided) return episode;
    add_back(episode, *avoided);
  }
  for (auto& [node, episodes] : back_) {
    if (episodes.empty() || (avoided && node == *avoided)) continue;
    const auto episode = episodes.front();
    episodes.pop_front();
    --returned_;
    return episode;
  }
  return std::nullopt;
}

void WaitingList::erase_if(const std::function<bool(std::uint32_t)>& gone) {
  order_.erase(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = 0;
  std::erase_if(order_, gone);
  returned_ = 0;
  for (auto& [node, episodes] : back_) {
    std::erase_if(episodes, gone);
    returned_ += episodes.size();
  }
}

}  // namespace nkigrid::runner
