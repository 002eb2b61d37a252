#include "jobs/element_lanes.hpp"

#include <algorithm>
#include <numeric>

namespace nkigrid::jobs {
namespace {

/// Puts `value` where the top of a min-heap was: one pass where pop and push take two.
template <class T, class Less>
void replace_top(std::vector<T>& heap, T value, Less less) {
  std::size_t hole = 0;
  for (;;) {
    std::size_t child = 2 * hole + 1;
    if (child >= heap.size()) break;
    if (child + 1 < heap.size() && less(heap[child + 1], heap[child])) ++child;
    if (!less(heap[child], value)) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = value;
}

constexpr auto kEndsFirst = [](const auto& a, const auto& b) { return a.end < b.end; };
constexpr auto kEndsLast = [](const auto& a, const auto& b) { return a.end > b.end; };

}  // namespace

ElementLanes::ElementLanes(std::uint32_t nodes, std::uint32_t lanes_of_node, double cores)
    : nodes_(nodes), order_(nodes), next_end_(nodes), lanes_(lanes_of_node), cores_(cores) {
  std::iota(order_.begin(), order_.end(), 0U);
}

/// Moves the node's clocks to the end of the episode that ends first, which stays in the heap.
void ElementLanes::advance(Node& node) {
  const double passed = node.running.front().end - node.virtual_now;
  const double took = passed * node.slowdown(cores_);
  busy_ += took * static_cast<double>(node.running.size());
  cores_used_ += took * std::min(node.demand, cores_);
  node.now += took;
  node.virtual_now = node.running.front().end;
}

void ElementLanes::sink() {
  const auto by_end = [&](std::uint32_t a, std::uint32_t b) { return next_end_[a] < next_end_[b]; };
  replace_top(order_, order_.front(), by_end);
}

void ElementLanes::run(double seconds, double compute) {
  if (begun_ < nodes_.size() * std::uint64_t{lanes_}) {  // a lane that never had one, on each node in turn
    auto& node = nodes_[begun_++ % nodes_.size()];
    node.running.push_back({node.virtual_now + seconds, compute});
    std::push_heap(node.running.begin(), node.running.end(), kEndsLast);
    node.demand += compute;
    if (begun_ == nodes_.size() * std::uint64_t{lanes_}) {
      for (std::uint32_t n = 0; n < nodes_.size(); ++n) next_end_[n] = nodes_[n].next_end(cores_);
      std::sort(order_.begin(), order_.end(), [&](auto a, auto b) { return next_end_[a] < next_end_[b]; });
    }
    return;
  }
  const auto n = order_.front();
  auto& node = nodes_[n];
  advance(node);
  node.demand += compute - node.running.front().compute;
  replace_top(node.running, Running{node.virtual_now + seconds, compute}, kEndsFirst);
  next_end_[n] = node.next_end(cores_);
  if (nodes_.size() > 1) sink();
}

double ElementLanes::finish() {
  double last = 0;
  for (auto& node : nodes_) {
    while (!node.running.empty()) {
      advance(node);
      node.demand -= node.running.front().compute;
      std::pop_heap(node.running.begin(), node.running.end(), kEndsLast);
      node.running.pop_back();
    }
    last = std::max(last, node.now);
  }
  return last;
}

}  // namespace nkigrid::jobs
