#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nkigrid::runner {

/// Episodes that wait to be dealt: first those of the dealing order, then those that came back. One that failed on a
/// node is kept under that node's name, so that another node finds it, and its own passes it by, without a search.
class WaitingList {
 public:
  void add(std::uint32_t episode) { order_.push_back(episode); }
  /// @param failed_on the node whose fault brought it back, or ""
  void add_back(std::uint32_t episode, const std::string& failed_on);

  /// The next one, with the node on which it failed (add_back()), never one of `avoided`. O(log nodes).
  /// @param failed_on tells of an episode of the order on which node an earlier session failed it, or ""
  std::optional<std::uint32_t> take(const std::optional<std::string>& avoided,
                                    const std::function<const std::string&(std::uint32_t)>& failed_on);

  /// Forgets what may never be dealt again. O(waiting).
  void erase_if(const std::function<bool(std::uint32_t)>& gone);

  std::size_t size() const noexcept { return order_.size() - next_ + returned_; }
  bool empty() const noexcept { return size() == 0; }
  /// What waits of the order.
  std::vector<std::uint32_t> rest_of_order() const {
    return {order_.begin() + static_cast<std::ptrdiff_t>(next_), order_.end()};
  }

 private:
  std::vector<std::uint32_t> order_;
  std::size_t next_ = 0;
  std::map<std::string, std::deque<std::uint32_t>> back_;  ///< node -> episodes
  std::size_t returned_ = 0;
};

}  // namespace nkigrid::runner
