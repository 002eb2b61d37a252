#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "jobs/base/files.hpp"
#include "jobs/benchmark.hpp"
#include "runner/device/shared/output_layout.hpp"
#include "runner/proc/shared_memory.hpp"

namespace nkigrid::device {

/// Shared memory that outputs are written to, kept from check to check: fresh pages are what a small check would spend
/// its time on.
/// @threads safe
class OutputPool {
 public:
  struct Buffer {
    Fd fd;
    proc::Mapping mapping;
  };
  /// At least `size` bytes. Their content is left over from an earlier check; whoever runs poisons outputs first.
  Buffer take(std::size_t size);
  /// @pre no child maps it any more
  void give_back(Buffer buffer);

 private:
  std::mutex mutex_;
  std::vector<Buffer> free_;
};

/// The outputs of one session: memory of the pool's for all of its slots, given back with this object. A session must
/// have seen its child's end by then: whoever has the memory next would read what an old child still writes.
class OutputMemory {
 public:
  OutputMemory(OutputPool& pool, const jobs::Task& task);
  ~OutputMemory();
  OutputMemory(const OutputMemory&) = delete;
  OutputMemory& operator=(const OutputMemory&) = delete;

  int descriptor() const noexcept { return buffer_.fd.get(); }
  const OutputLayout& layout() const noexcept { return layout_; }
  std::span<const std::byte> output(std::size_t slot, std::size_t output) const;
  /// Nobody can say whether the child has ended: the memory is never used again.
  void abandon() noexcept { abandoned_ = true; }

 private:
  OutputPool& pool_;
  OutputLayout layout_;
  OutputPool::Buffer buffer_;
  bool abandoned_ = false;
};

}  // namespace nkigrid::device
