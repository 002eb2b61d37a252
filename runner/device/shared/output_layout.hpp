#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace nkigrid::device {

/// Where outputs lie in the memory that a run child writes to (docs/formats/child_protocol.md). Both sides compute it
/// from the sizes, so no place travels that a child could lie about.
struct OutputLayout {
  std::vector<std::size_t> bytes;
  std::vector<std::size_t> offsets;  ///< from the start of a slot
  std::size_t slot_bytes = 0;
};

inline OutputLayout layout_of(std::span<const std::size_t> output_bytes) {
  constexpr std::size_t kAlignment = 64, kPage = 4096;
  const auto round_up = [](std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; };
  OutputLayout layout;
  std::size_t offset = 0;
  for (const auto size : output_bytes) {
    layout.bytes.push_back(size);
    layout.offsets.push_back(offset);
    offset += round_up(size, kAlignment);
  }
  layout.slot_bytes = round_up(std::max<std::size_t>(offset, 1), kPage);
  return layout;
}

}  // namespace nkigrid::device
