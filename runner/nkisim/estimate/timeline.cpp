#include "runner/nkisim/estimate/timeline.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr double kSbufBytes = 22.0 * (1 << 20), kPsumBytes = 2.0 * (1 << 20);  ///< what tiles get
constexpr double kMostCopies = 8;

/// One engine, which does one thing at a time.
class Queue {
 public:
  /// The first time from `ready` on that is free for so long; it is taken.
  double take(double ready, double us) {
    for (std::size_t k = 0; k < gaps_.size(); ++k) {
      const auto [from, to] = gaps_[k];
      const double begin = std::max(ready, from);
      if (begin + us > to) continue;
      gaps_.erase(gaps_.begin() + static_cast<std::ptrdiff_t>(k));
      if (begin > from) leave(from, begin);
      if (begin + us < to) leave(begin + us, to);
      return begin;
    }
    const double begin = std::max(ready, end_);
    if (begin > end_) leave(end_, begin);
    end_ = begin + us;
    return begin;
  }
  double end() const { return end_; }

 private:
  static constexpr std::size_t kRemembered = 32;  ///< a queue looks so far ahead
  void leave(double from, double to) {
    gaps_.emplace_back(from, to);
    std::sort(gaps_.begin(), gaps_.end());
    if (gaps_.size() > kRemembered) gaps_.erase(gaps_.begin());
  }
  std::vector<std::pair<double, double>> gaps_;
  double end_ = 0;
};

/// When a buffer's memory was last written and used, of the memory that it has now and of what it had before.
struct Memory {
  double written = 0, used = 0;
  double filled = 0;           ///< last written whole: writes to parts of it follow that, not each other
  std::vector<double> former;  ///< until when each copy was in use, the oldest first
  std::size_t copies = 2;
  bool blocks = false;  ///< its parts are written at different times: only that reads follow writes is known
};

/// Does an access of an operation reach from end to end of its buffer?
bool is_whole(const Program& program, const Access& access, const Head& head) {
  if (!head.mask.empty()) return false;
  const std::vector<std::int64_t>& extents = program.buffers[access.buffer].shape;
  for (std::size_t d = 0; d < access.dims.size(); ++d) {
    std::int64_t reach = 1;
    const std::vector<std::int64_t>& slots = access.dims[d].slots;
    for (std::size_t k = 0; k < slots.size(); ++k) reach += std::abs(slots[k]) * (head.shape[k] - 1);
    if (reach < extents[d]) return false;
  }
  return true;
}

class Player {
 public:
  Player(const Program& program, std::size_t most_events)
      : program_(program), costs_(program), most_events_(most_events), memories_(program.buffers.size()) {
    double bytes[2] = {};
    for (const Buffer& buffer : program.buffers) bytes[buffer.kind == BufferKind::psum] += size(buffer);
    for (std::size_t b = 0; b < memories_.size(); ++b) {
      const Buffer& buffer = program.buffers[b];
      const bool psum = buffer.kind == BufferKind::psum;
      memories_[b].blocks = !is_on_chip(buffer.kind) || buffer.partition_dim > 0;
      memories_[b].copies = static_cast<std::size_t>(
          std::clamp((psum ? kPsumBytes : kSbufBytes) / std::max(1.0, bytes[psum]), 1.0, kMostCopies));
    }
  }

  Timeline play() {
    std::int64_t instances = 1;
    for (const std::int64_t extent : program_.grid) instances *= extent;
    for (std::int64_t k = 0; k < instances && timeline_.whole; ++k) block(program_.body);
    return std::move(timeline_);
  }

 private:
  static double size(const Buffer& buffer) {
    if (!is_on_chip(buffer.kind) || buffer.partition_dim > 0 || buffer.alias_of) return 0;
    auto bytes = static_cast<double>(size_of(buffer.dtype));
    for (const std::int64_t extent : buffer.shape) bytes *= static_cast<double>(extent);
    return bytes;
  }

  void block(const Block& nodes) {
    for (const Node& node : nodes) {
      if (!timeline_.whole) return;
      std::visit([&](const auto& what) { play(node, what); }, node.what);
    }
  }
  void play(const Node&, const Loop& loop) {
    for (std::int64_t trip = 0; trip < loop.trips && timeline_.whole; ++trip) block(loop.body);
  }
  /// Taken as often as its conditions hold, evenly over its runs; both sides where that cannot be said.
  void play(const Node& node, const If& branch) {
    const auto [known, fresh] = shares_.try_emplace(&node);
    auto& [share, owed] = known->second;
    if (fresh) share = costs_.share_of(branch.conditions);
    owed += share.value_or(1);
    const bool taken = owed >= 1 - 1e-9;
    if (taken) owed -= 1;
    if (taken) block(branch.then_body);
    if (!taken || !share) block(branch.else_body);
  }
  void play(const Node&, const Alloc& alloc) {
    Memory& memory = memories_[alloc.buffer];
    if (memory.blocks) return;
    memory.former.push_back(std::max(memory.written, memory.used));
    memory.written = memory.used = memory.filled = 0;
    if (memory.former.size() < memory.copies) return;
    memory.used = memory.former.front();
    memory.former.erase(memory.former.begin());
  }
  template <class Op>
  void play(const Node& node, const Op& op) {
    const auto [known, fresh] = known_.try_emplace(&node);
    if (fresh) known->second = costs_.of(op);
    const Cost& cost = known->second;
    if (cost.dma_us == 0 && cost.us == 0) return;
    if (timeline_.events.size() >= most_events_) {
      timeline_.whole = false;
      return;
    }
    double ready = 0;
    for_each_access(op, [&](const Access& access, bool written) {
      const Memory& memory = memories_[root_of(program_, access.buffer)];
      const bool part = written && !accumulates(op) && !is_whole(program_, access, op.head);
      ready = std::max(ready, part ? memory.filled : memory.written);
      if (written && !memory.blocks) ready = std::max(ready, memory.used);
      if (access.dynamic) ready = std::max(ready, memories_[root_of(program_, access.dynamic->buffer)].written);
    });
    const auto [lane, us] = cost.dma_us > 0 ? std::pair(Lane::dma, cost.dma_us) : lane_of(cost, ready);
    const double begin = queue(lane).take(ready, us), end = begin + us + (lane == Lane::dma ? kDmaLatencyUs : 0);
    for_each_access(op, [&](const Access& access, bool written) {
      Memory& memory = memories_[root_of(program_, access.buffer)];
      double& last = written ? memory.written : memory.used;
      last = std::max(last, end);
      if (written && is_whole(program_, access, op.head)) memory.filled = last;
    });
    timeline_.events.push_back({begin, begin + us, node.line, op.head.instr, lane});
    timeline_.us = std::max(timeline_.us, end);
  }
  std::pair<Lane, double> lane_of(const Cost& cost, double ready) {
    if (cost.us_on_scalar == 0) return {cost.lane, cost.us};
    const double on_vector = std::max(ready, queue(Lane::vector).end()) + cost.us,
                 on_scalar = std::max(ready, queue(Lane::scalar).end()) + cost.us_on_scalar;
    return on_vector <= on_scalar ? std::pair(cost.lane, cost.us) : std::pair(Lane::scalar, cost.us_on_scalar);
  }
  /// GpSimd shares its SBUF port with DVE: they take turns.
  Queue& queue(Lane lane) { return queues_[index_of(lane == Lane::gpsimd ? Lane::vector : lane)]; }

  const Program& program_;
  CostModel costs_;
  std::size_t most_events_;
  std::vector<Memory> memories_;
  std::array<Queue, kLaneCount> queues_;
  std::map<const Node*, Cost> known_;
  std::map<const Node*, std::pair<std::optional<double>, double>> shares_;  ///< of a branch: taken, owed
  Timeline timeline_;
};

}  // namespace

Timeline timeline_of(const Program& program, std::size_t most_events) { return Player(program, most_events).play(); }

}  // namespace nkigrid::nkisim
