#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "jobs/base/files.hpp"
#include "jobs/benchmark.hpp"
#include "runner/device/shared/output_layout.hpp"
#include "runner/proc/fork_server.hpp"
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
  /// Of a child that was told to end: the memory is used again when it has, and its caller need not wait for that.
  void give_back_after(proc::Job child, Buffer buffer);

 private:
  struct Resting {
    proc::Job child;
    Buffer buffer;
  };
  void wake();

  std::mutex mutex_;
  std::vector<Buffer> free_;
  std::vector<Resting> resting_;
};

/// The outputs of one session: memory of the pool's for all of its slots, given back with this object. A session must
/// have seen its child's end by then, or leave that to the pool: whoever has the memory next would read what an old
/// child still writes.
class OutputMemory {
 public:
  OutputMemory(OutputPool& pool, const jobs::Task& task);
  ~OutputMemory();
  OutputMemory(const OutputMemory&) = delete;
  OutputMemory& operator=(const OutputMemory&) = delete;

  int descriptor() const noexcept { return buffer_.fd.get(); }
  const OutputLayout& layout() const noexcept { return layout_; }
  std::span<const std::byte> output(std::size_t slot, std::size_t output) const;
  /// The pool waits for the end of the child.
  void give_back_after(proc::Job child);
  /// Nobody can say whether the child has ended: the memory is never used again.
  void abandon() noexcept { gone_ = true; }

 private:
  OutputPool& pool_;
  OutputLayout layout_;
  OutputPool::Buffer buffer_;
  bool gone_ = false;  ///< not ours to give back
};

}  // namespace nkigrid::device
