#include <algorithm>
#include <array>
#include <optional>

#include "runner/nkisim/engine/engine.hpp"
#include "runner/nkisim/program/ranges.hpp"

// Constants and their sources: docs/decisions/estimate.md.
namespace nkigrid::nkisim {
namespace {

constexpr double kPeGhz = 2.8, kActGhz = 1.4, kDveGhz = 1.12, kPoolGhz = 1.4;
constexpr double kMinCycles = 64, kActOverhead = 115, kDveOverhead = 60, kPoolOverhead = 60, kPoolSetup = 150;
constexpr double kDmaBytesPerUs = 272e3, kDmaLatencyUs = 2.0, kDmaRowBytes = 512, kDmaWorst = 8;
constexpr double kOverlap = 0.3, kSbufLiveBytes = 22.0 * (1 << 20);

/// Busy times [us].
struct Busy {
  double dma = 0, pe = 0, act = 0, dve = 0;
  double free_on_dve = 0, free_on_act = 0;  ///< work that may go to either: its cost there
};

/// What the formulas want to know of an operation.
struct Shape {
  double per_partition = 1;  ///< N
  bool all_narrow = true;    ///< every on-chip operand is bf16 or fp16
  bool any_psum = false;
};

class Estimator {
 public:
  explicit Estimator(const Program& program) : program_(program), ranges_(program) {}

  double run() {
    double instances = 1;
    for (const std::int64_t extent : program_.grid) instances *= static_cast<double>(extent);
    block(program_.body, instances);
    balance();
    const double dve = busy_.dve, sum = busy_.dma + busy_.pe + busy_.act + dve;
    const double most = std::max({busy_.dma, busy_.pe, busy_.act, dve});
    return most + kOverlap * (sum - most) + (busy_.dma > 0 ? kDmaLatencyUs : 0);
  }

 private:
  /// @returns bytes of SBUF that the block tensors made here and inside want at once
  double block(const Block& nodes, double times) {
    double own = 0, inside = 0;
    for (const Node& node : nodes) {
      if (const Loop* loop = std::get_if<Loop>(&node.what)) {
        inside = std::max(inside, block(loop->body, times * static_cast<double>(loop->trips)));
      } else if (const If* branch = std::get_if<If>(&node.what)) {
        const double share = share_of(branch->conditions);
        inside = std::max(inside, block(branch->then_body, times * share));
        inside = std::max(inside, block(branch->else_body, times * (1 - share)));
      } else if (const Alloc* alloc = std::get_if<Alloc>(&node.what)) {
        own += block_tensor_bytes(program_.buffers[alloc->buffer]);
      } else {
        std::visit([&](const auto& what) { operation(what, times); }, node.what);
      }
    }
    // The longest-lived tensors make room: what of them does not fit goes out to HBM and comes back, each time that
    // their region runs.
    const double excess = std::clamp(own + inside - kSbufLiveBytes, 0.0, own);
    busy_.dma += times * 2 * excess / kDmaBytesPerUs;
    return std::min(own + inside, kSbufLiveBytes);
  }

  /// Conditions taken as independent and their values as spread evenly over their range.
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

  /// Single tiles are small, and the compiler shares their space.
  static double block_tensor_bytes(const Buffer& buffer) {
    if (buffer.kind != BufferKind::sbuf || buffer.partition_dim == 0) return 0;
    double bytes = static_cast<double>(size_of(buffer.dtype));
    for (const std::int64_t extent : buffer.shape) bytes *= static_cast<double>(extent);
    return bytes;
  }

  void look_at(const Access& access, const std::vector<std::int64_t>& shape, Shape& out, bool sets_size) const {
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
  Shape shape_of(const Head& head, const Access& dst, const std::vector<Source>& sources) const {
    Shape shape;
    look_at(dst, head.shape, shape, true);
    // The widest source sets the partitions: a partition reduction's destination has one.
    for (const Source& source : sources) {
      if (source.kind != Source::Kind::access) continue;
      Shape other;
      look_at(source.access, head.shape, other, true);
      look_at(source.access, head.shape, shape, false);
      if (other.per_partition > 1 || shape.per_partition > other.per_partition) {
        shape.per_partition = std::min(shape.per_partition, other.per_partition);
      }
    }
    return shape;
  }

  static double at_least(double cycles, double least = kMinCycles) { return std::max(least, cycles); }
  void pe(double cycles, double times) { busy_.pe += times * cycles / (kPeGhz * 1e3); }
  void act(double cycles, double times) { busy_.act += times * (cycles + kActOverhead) / (kActGhz * 1e3); }
  void dve(double cycles, double times) { busy_.dve += times * (cycles + kDveOverhead) / (kDveGhz * 1e3); }
  /// GpSimd shares its SBUF port with DVE: they take turns.
  void pool(double cycles, double times) { busy_.dve += times * (cycles + kPoolOverhead) / (kPoolGhz * 1e3); }
  void either(double cycles, double times) {
    busy_.free_on_dve += times * (cycles + kDveOverhead) / (kDveGhz * 1e3);
    busy_.free_on_act += times * (cycles + kActOverhead) / (kActGhz * 1e3);
  }
  /// The node's engine counts where the instruction leaves a choice.
  void on(Unit unit, Engine engine, double cycles, double times) {
    switch (unit) {
      case Unit::none:
      case Unit::dma:  // dma() charges the bytes
        return;
      case Unit::tensor:
        return pe(cycles, times);
      case Unit::scalar:
        return act(cycles, times);
      case Unit::vector:
        return dve(cycles, times);
      case Unit::gpsimd:
        return pool(cycles, times);
      case Unit::any:
        if (engine == Engine::scalar) return act(cycles, times);
        if (engine == Engine::vector) return dve(cycles, times);
        return engine == Engine::gpsimd ? pool(cycles, times) : either(cycles, times);
      case Unit::vector_or_gpsimd:
        return engine == Engine::gpsimd ? pool(cycles, times) : dve(cycles, times);
      case Unit::tensor_or_vector:
        return engine == Engine::vector ? dve(cycles, times) : pe(cycles, times);
    }
  }
  /// Splits the free work between DVE and ACT so that the busier of them is least.
  void balance() {
    if (busy_.free_on_dve <= 0) return;
    const double part = (busy_.act + busy_.free_on_act - busy_.dve) / (busy_.free_on_dve + busy_.free_on_act);
    const double on_dve = std::clamp(part, 0.0, 1.0);
    busy_.dve += on_dve * busy_.free_on_dve;
    busy_.act += (1 - on_dve) * busy_.free_on_act;
  }

  bool moves_partition(const Access* access, std::size_t axis) const {
    if (access == nullptr) return false;
    const Buffer& buffer = program_.buffers[access->buffer];
    const bool chip = is_on_chip(buffer.kind);
    return chip && access->dims[buffer.partition_dim].slots[axis] != 0;
  }

  /// Bytes through the DMA engines; rows below 512 bytes cost as if they had them, up to the factor of element-wise
  /// copies. A row ends where the on-chip side changes its partition.
  void dma(const Head& head, const Access& access, const Access* other, double times) {
    const Buffer& buffer = program_.buffers[access.buffer];
    if (is_on_chip(buffer.kind)) return;
    double points = 1, row = 1;
    const auto item = static_cast<double>(size_of(buffer.dtype));
    for (const std::int64_t extent : head.shape) points *= static_cast<double>(extent);
    std::int64_t run = 1, stride = 1;
    for (std::size_t dim = buffer.shape.size(); dim-- > 0; stride *= buffer.shape[dim]) {
      for (std::size_t axis = 0; axis < head.shape.size(); ++axis) {
        const std::int64_t slot = access.dims[dim].slots[axis];
        if (slot != 0 && slot * stride == run && !moves_partition(other, axis)) run *= head.shape[axis];
      }
    }
    row = static_cast<double>(run) * item;
    const double bytes = points * item;
    busy_.dma += times * std::min(bytes * std::max(1.0, kDmaRowBytes / row), bytes * kDmaWorst) / kDmaBytesPerUs;
  }

  void operation(const Map& map, double times) {
    const Shape shape = shape_of(map.head, map.dst, map.sources);
    const bool reads = map.sources[0].kind == Source::Kind::access;
    dma(map.head, map.dst, reads ? &map.sources[0].access : nullptr, times);
    for (const Source& source : map.sources) {
      if (source.kind == Source::Kind::access) dma(map.head, source.access, &map.dst, times);
    }
    compute(map.head, shape, times);
  }
  void operation(const Fold& fold, double times) {
    compute(fold.head, shape_of(fold.head, fold.dst, fold.sources), times);
  }
  void operation(const Scan& scan, double times) {
    compute(scan.head, shape_of(scan.head, scan.dst, {scan.data0}), times);
  }
  void operation(const SpecialOp& special, double times) {
    Shape shape;
    look_at(special.sources[0].access, special.head.shape, shape, true);
    compute(special.head, shape, times);
  }
  void operation(const Matmul& matmul, double times) {
    const auto m = static_cast<double>(matmul.head.shape[1]), n = static_cast<double>(matmul.head.shape[2]);
    const Dtype dtype = program_.buffers[matmul.moving.buffer].dtype;
    pe(std::max(std::min(kMinCycles, m), n) * (dtype == Dtype::float32 ? 4 : 1), times);
  }
  void operation(const Loop&, double) {}
  void operation(const If&, double) {}
  void operation(const Alloc&, double) {}

  void compute(const Head& head, const Shape& shape, double times) {
    on(unit_of(head.instr), head.engine, cycles_of(head, shape), times);
  }
  /// The formulas of numbers.def, over the names that it promises them.
  static double cycles_of(const Head& head, const Shape& shape) {
    const double n = shape.per_partition;
    const bool narrow = shape.all_narrow, psum = shape.any_psum, on_vector = head.engine == Engine::vector;
    switch (head.instr) {
#define INSTR(number, name, unit, cycles) \
  case Instr::name:                       \
    return cycles;
#include "runner/nkisim/numbers/numbers.def"
    }
    return 0;
  }

  const Program& program_;
  Ranges ranges_;
  Busy busy_;
};

}  // namespace

double estimate_us(const Program& program) { return Estimator(program).run(); }

}  // namespace nkigrid::nkisim
