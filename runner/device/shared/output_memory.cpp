#include "runner/device/shared/output_memory.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "runner/device/backend.hpp"

namespace nkigrid::device {
namespace {

constexpr std::size_t kMostFree = 16, kMostResting = 64;
constexpr std::size_t kUnit =
    64 * 4096;  // buffers come in multiples of it [B], so that more of them fit the next check

OutputLayout layout_for(const jobs::Task& task) {
  std::vector<std::size_t> sizes;
  for (const auto& output : task.outputs) sizes.push_back(bytes_of(output));
  return layout_of(sizes);
}

}  // namespace

OutputPool::Buffer OutputPool::take(std::size_t size) {
  {
    const std::lock_guard lock(mutex_);
    wake();
    // Best fit, and none that would waste most of a large one.
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->mapping.size() >= size && it->mapping.size() <= 4 * size + (1 << 20) &&
          (best == free_.end() || it->mapping.size() < best->mapping.size()))
        best = it;
    }
    if (best != free_.end()) {
      auto buffer = std::move(*best);
      free_.erase(best);
      return buffer;
    }
  }
  Buffer buffer;
  const auto rounded = (std::max<std::size_t>(size, 1) + kUnit - 1) / kUnit * kUnit;
  buffer.fd = proc::make_shared_memory("nkigrid-outputs", rounded);
  buffer.mapping = proc::Mapping::map(buffer.fd.get(), rounded, proc::Mapping::Access::read_write);
  return buffer;
}

void OutputPool::give_back(Buffer buffer) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(buffer));
  if (free_.size() > kMostFree) free_.erase(free_.begin());
}

void OutputPool::give_back_after(proc::Job child, Buffer buffer) {
  const std::lock_guard lock(mutex_);
  resting_.push_back({std::move(child), std::move(buffer)});
  if (resting_.size() > kMostResting) resting_.erase(resting_.begin());
}

/// Memory whose child has ended is free. Where the server is gone nobody can say so, and it is never used again.
void OutputPool::wake() {
  const auto rests = [](const Resting& resting) { return !resting.child.is_over(); };
  const auto over = std::stable_partition(resting_.begin(), resting_.end(), rests);
  for (auto it = over; it != resting_.end(); ++it) {
    if (it->child.wait(proc::deadline_after(0))) free_.push_back(std::move(it->buffer));
  }
  resting_.erase(over, resting_.end());
  if (free_.size() > kMostFree) free_.erase(free_.begin(), free_.end() - kMostFree);
}

OutputMemory::OutputMemory(OutputPool& pool, const jobs::Task& task)
    : pool_(pool), layout_(layout_for(task)), buffer_(pool.take(layout_.slot_bytes * Session::kSlots)) {}

OutputMemory::~OutputMemory() {
  if (gone_) return;
  try {
    pool_.give_back(std::move(buffer_));
  } catch (const std::exception&) {
    // A buffer that cannot be kept is a buffer made anew.
  }
}

void OutputMemory::give_back_after(proc::Job child) {
  gone_ = true;
  pool_.give_back_after(std::move(child), std::move(buffer_));
}

std::span<const std::byte> OutputMemory::output(std::size_t slot, std::size_t output) const {
  return buffer_.mapping.bytes().subspan(slot * layout_.slot_bytes + layout_.offsets.at(output),
                                         layout_.bytes.at(output));
}

}  // namespace nkigrid::device
