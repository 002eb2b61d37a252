#include <algorithm>

#include "runner/nkisim/estimate/busy.hpp"
#include "runner/nkisim/estimate/estimate.hpp"
#include "runner/nkisim/program/liveness.hpp"
#include "runner/nkisim/program/ranges.hpp"

// Goes over the program once, not over its trips: each node counts as often as the loops, the grid and the branches
// around it say, so an estimate costs the same for a million trips as for one.
namespace nkigrid::nkisim {
namespace {

constexpr double kSbufLiveBytes = 22.0 * (1 << 20);  ///< of the 24 MiB, what tensors get

class Estimator {
 public:
  explicit Estimator(const Program& program) : program_(program), ranges_(program), homes_(homes_of(program)) {}

  double run() {
    double instances = 1;
    for (const std::int64_t extent : program_.grid) instances *= static_cast<double>(extent);
    block(program_.body, nullptr, instances);
    return busy_.us();
  }

 private:
  /// @returns bytes of SBUF that the block tensors made here and inside want at once, at most what there is: what is
  /// beyond it has been charged as spilled and no longer weighs on the regions around
  /// @param loop_of whose body this is; none: another block
  double block(const Block& nodes, const Loop* loop_of, double times) {
    double own = loop_of == nullptr ? 0 : bytes_by_trip(*loop_of), inside = 0;
    for (const Node& node : nodes) {
      if (const Loop* loop = std::get_if<Loop>(&node.what)) {
        inside = std::max(inside, block(loop->body, loop, times * static_cast<double>(loop->trips)));
      } else if (const If* branch = std::get_if<If>(&node.what)) {
        const double share = share_of(branch->conditions);
        inside = std::max(inside, block(branch->then_body, nullptr, times * share));
        inside = std::max(inside, block(branch->else_body, nullptr, times * (1 - share)));
      } else if (const Alloc* alloc = std::get_if<Alloc>(&node.what)) {
        if (homes_[alloc->buffer].loop == nullptr) own += block_tensor_bytes(alloc->buffer);
      } else {
        std::visit([&](const auto& what) { operation(what, times); }, node.what);
      }
    }
    // The longest-lived tensors make room: what of them does not fit goes out to HBM and comes back, each time that
    // their region runs.
    busy_.spill(std::clamp(own + inside - kSbufLiveBytes, 0.0, own), times);
    return std::min(own + inside, kSbufLiveBytes);
  }

  /// How often a branch is taken: conditions as if independent, their values as if spread evenly over their range.
  double share_of(const std::vector<Condition>& conditions) const {
    double share = 1;
    for (const Condition& condition : conditions) {
      const Range range = ranges_.of(condition.value.base);
      const double width = static_cast<double>(range.hi - range.lo) + 1;
      const double zero = range.lo <= 0 && range.hi >= 0 ? 1 / width : 0;
      switch (condition.kind) {
        case Condition::Kind::not_negative:
          share *= std::clamp((static_cast<double>(range.hi) + 1) / width, 0.0, 1.0);
          break;
        case Condition::Kind::zero:
          share *= zero;
          break;
        case Condition::Kind::not_zero:
          share *= 1 - zero;
          break;
      }
    }
    return share;
  }

  /// Of what one run of its home touches. Single tiles are small, and the compiler shares their space.
  double block_tensor_bytes(std::uint32_t id) const {
    const Buffer& buffer = program_.buffers[id];
    if (buffer.kind != BufferKind::sbuf || buffer.partition_dim == 0) return 0;
    return static_cast<double>(homes_[id].bytes);
  }
  /// Of the block tensors declared further out of which each trip of this loop has blocks of its own.
  double bytes_by_trip(const Loop& loop) const {
    double bytes = 0;
    for (std::uint32_t id = 0; id < homes_.size(); ++id) {
      if (homes_[id].loop == &loop) bytes += block_tensor_bytes(id);
    }
    return bytes;
  }

  void operation(const Map& map, double times) {
    const bool reads = map.sources[0].kind == Source::Kind::access;
    transfer(map.head, map.dst, reads ? &map.sources[0].access : nullptr, times);
    for (const Source& source : map.sources) {
      if (source.kind == Source::Kind::access) transfer(map.head, source.access, &map.dst, times);
    }
    busy_.instruction(map.head, facts_of(map.head, map.dst, map.sources), times);
  }
  void operation(const Fold& fold, double times) {
    busy_.instruction(fold.head, facts_of(fold.head, fold.dst, fold.sources), times);
  }
  void operation(const Scan& scan, double times) {
    busy_.instruction(scan.head, facts_of(scan.head, scan.dst, {scan.data0}), times);
  }
  void operation(const SpecialOp& special, double times) {
    OperandFacts facts;
    look_at(special.sources[0].access, special.head.shape, facts, true);
    busy_.instruction(special.head, facts, times);
  }
  void operation(const Matmul& matmul, double times) {
    busy_.matmul(static_cast<double>(matmul.head.shape[1]), static_cast<double>(matmul.head.shape[2]),
                 program_.buffers[matmul.moving.buffer].dtype == Dtype::float32, times);
  }
  void operation(const Loop&, double) {}
  void operation(const If&, double) {}
  void operation(const Alloc&, double) {}

  void look_at(const Access& access, const std::vector<std::int64_t>& shape, OperandFacts& out, bool sets_size) const {
    const Buffer& buffer = program_.buffers[access.buffer];
    if (!is_on_chip(buffer.kind)) return;
    const bool narrow = buffer.dtype == Dtype::bfloat16 || buffer.dtype == Dtype::float16;
    out.all_narrow = out.all_narrow && narrow;
    out.any_psum = out.any_psum || buffer.kind == BufferKind::psum;
    if (!sets_size) return;
    double points = 1, partitions = 1;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      points *= static_cast<double>(shape[axis]);
      if (access.dims[buffer.partition_dim].slots[axis] != 0) partitions *= static_cast<double>(shape[axis]);
    }
    out.per_partition = std::max(1.0, points / partitions);
  }
  /// n is the points a partition of the operand that is spread over most partitions: a partition reduction's
  /// destination stands on one, as does a source that is repeated over partitions.
  OperandFacts facts_of(const Head& head, const Access& dst, const std::vector<Source>& sources) const {
    OperandFacts facts;
    look_at(dst, head.shape, facts, true);
    for (const Source& source : sources) {
      if (source.kind != Source::Kind::access) continue;
      OperandFacts other;
      look_at(source.access, head.shape, other, true);
      look_at(source.access, head.shape, facts, false);
      facts.per_partition = std::min(facts.per_partition, other.per_partition);
    }
    return facts;
  }

  bool moves_partition(const Access* access, std::size_t axis) const {
    if (access == nullptr) return false;
    const Buffer& buffer = program_.buffers[access->buffer];
    return is_on_chip(buffer.kind) && access->dims[buffer.partition_dim].slots[axis] != 0;
  }

  /// Of one side that lies in HBM. Its rows: from the last dimension on, axes that go on where the run so far ends, up
  /// to where the on-chip side (`other`) changes its partition, which ends a descriptor.
  void transfer(const Head& head, const Access& access, const Access* other, double times) {
    const Buffer& buffer = program_.buffers[access.buffer];
    if (is_on_chip(buffer.kind)) return;
    double points = 1;
    for (const std::int64_t extent : head.shape) points *= static_cast<double>(extent);
    std::int64_t run = 1, stride = 1;
    for (std::size_t dim = buffer.shape.size(); dim-- > 0; stride *= buffer.shape[dim]) {
      for (std::size_t axis = 0; axis < head.shape.size(); ++axis) {
        const std::int64_t slot = access.dims[dim].slots[axis];
        if (slot != 0 && slot * stride == run && !moves_partition(other, axis)) run *= head.shape[axis];
      }
    }
    const auto item = static_cast<double>(size_of(buffer.dtype));
    busy_.transfer(points * item, static_cast<double>(run) * item, times);
  }

  const Program& program_;
  Ranges ranges_;
  std::vector<Home> homes_;
  Busy busy_;
};

}  // namespace

double estimate_us(const Program& program) { return Estimator(program).run(); }

}  // namespace nkigrid::nkisim
