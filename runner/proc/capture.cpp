#include "runner/proc/capture.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace nkigrid::proc {

void HeadTail::add(std::string_view bytes) {
  total_ += bytes.size();
  hash_.update(bytes);
  const auto to_head = std::min(bytes.size(), head_limit_ - head_.size());
  head_.append(bytes.substr(0, to_head));
  bytes.remove_prefix(to_head);
  if (bytes.size() >= tail_limit_) {
    ring_.assign(bytes.substr(bytes.size() - tail_limit_));
    ring_start_ = 0;
    return;
  }
  const auto grow = std::min(bytes.size(), tail_limit_ - ring_.size());
  ring_.append(bytes.substr(0, grow));  // only while the ring is not full, so ring_start_ is 0 here
  for (bytes.remove_prefix(grow); !bytes.empty();) {
    const auto room = std::min(bytes.size(), ring_.size() - ring_start_);
    bytes.copy(ring_.data() + ring_start_, room);
    ring_start_ = (ring_start_ + room) % ring_.size();
    bytes.remove_prefix(room);
  }
}

std::string HeadTail::text() const {
  std::string text = head_;
  const auto left_out = total_ - head_.size() - ring_.size();
  if (left_out > 0) text += fmt::format("\n... [{} bytes left out] ...\n", left_out);
  text.append(ring_, ring_start_);
  text.append(ring_, 0, ring_start_);
  return text;
}

std::string HeadTail::sha256() { return hash_.hex(); }

}  // namespace nkigrid::proc
