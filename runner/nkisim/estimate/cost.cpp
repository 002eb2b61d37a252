#include "runner/nkisim/estimate/cost.hpp"

#include <algorithm>

#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr double kPeGhz = 2.8, kActGhz = 1.4, kDveGhz = 1.12, kPoolGhz = 1.4;
constexpr double kMinCycles = 64, kActOverhead = 115, kDveOverhead = 60, kPoolOverhead = 60, kPoolSetup = 150;
constexpr double kDmaRowBytes = 512, kDmaStartUs = 0.35, kFp32Passes = 4;

double at_least(double cycles, double least = kMinCycles) { return std::max(least, cycles); }

/// What the formulas of numbers.def want to know of an operation's operands.
struct OperandFacts {
  double per_partition = 1;  ///< n
  bool all_narrow = true;    ///< every on-chip operand is bf16 or fp16
  bool any_psum = false;
  int tiles = 0;  ///< operands that are read with as many values a partition as there are points
};

/// The formulas of numbers.def, over the names that it promises them.
double cycles_of(const Head& head, const OperandFacts& operands) {
  const double n = operands.per_partition;
  const bool narrow = operands.all_narrow, psum = operands.any_psum, on_vector = head.engine == Engine::vector;
  const double turning = on_vector ? at_least(n) : at_least(n, 128) * (narrow ? 1 : kFp32Passes);
  switch (head.instr) {
#define INSTR(number, name, unit, operation, steps, lanes, cycles) \
  case Instr::name:                                                \
    return cycles;
#include "runner/nkisim/numbers/numbers.def"
  }
  return 0;
}

double points_of(const std::vector<std::int64_t>& shape) {
  double points = 1;
  for (const std::int64_t extent : shape) points *= static_cast<double>(extent);
  return points;
}

void look_at(const Program& program, const Access& access, const std::vector<std::int64_t>& shape, OperandFacts& out,
             bool sets_size) {
  const Buffer& buffer = program.buffers[access.buffer];
  if (!is_on_chip(buffer.kind)) return;
  const bool narrow = buffer.dtype == Dtype::bfloat16 || buffer.dtype == Dtype::float16;
  out.all_narrow = out.all_narrow && narrow;
  out.any_psum = out.any_psum || buffer.kind == BufferKind::psum;
  if (!sets_size) return;
  double partitions = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (access.dims[buffer.partition_dim].slots[axis] != 0) partitions *= static_cast<double>(shape[axis]);
  }
  // Several axes may move along the partitions, and meet: there are no more than the buffer has.
  partitions = std::min(partitions, static_cast<double>(buffer.shape[buffer.partition_dim]));
  out.per_partition = std::max(1.0, points_of(shape) / partitions);
}

/// Does an on-chip operand bring a value of its own for each point of a partition? (A column or a repeated row does
/// not.)
bool is_tile(const Program& program, const Access& access, const std::vector<std::int64_t>& shape) {
  const Buffer& buffer = program.buffers[access.buffer];
  if (!is_on_chip(buffer.kind)) return false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    bool moves = shape[axis] == 1;
    for (const Index& dim : access.dims) moves = moves || dim.slots[axis] != 0;
    if (!moves) return false;
  }
  return true;
}

/// n is the points a partition of the operand that is spread over most partitions: a partition reduction's
/// destination stands on one, as does a source that is repeated over partitions.
OperandFacts facts_of(const Program& program, const Head& head, const Access& dst, const std::vector<Source>& sources) {
  OperandFacts facts;
  look_at(program, dst, head.shape, facts, true);
  for (const Source& source : sources) {
    if (source.kind != Source::Kind::access) continue;
    OperandFacts other;
    look_at(program, source.access, head.shape, other, true);
    const bool tile = is_tile(program, source.access, head.shape), psum = facts.any_psum;
    look_at(program, source.access, head.shape, facts, false);
    if (!tile) facts.any_psum = psum;  // a column of PSUM spares no reading of SBUF
    facts.per_partition = std::min(facts.per_partition, other.per_partition);
    facts.tiles += tile ? 1 : 0;
  }
  return facts;
}

void put_on(Cost& cost, Lane lane, double cycles) {
  cost.lane = lane;
  switch (lane) {
    case Lane::tensor:
      cost.us = cycles / (kPeGhz * 1e3);
      return;
    case Lane::scalar:
      cost.us = (cycles + kActOverhead) / (kActGhz * 1e3);
      return;
    case Lane::vector:
      cost.us = (cycles + kDveOverhead) / (kDveGhz * 1e3);
      return;
    case Lane::gpsimd:
      cost.us = (cycles + kPoolOverhead) / (kPoolGhz * 1e3);
      return;
    case Lane::dma:
      return;
  }
}

/// Whatever its name, an instruction that brings two tiles together costs at least what tensor_tensor does. What a
/// destination holds that is added to is a tile, too.
double at_least_for_tiles(const Head& head, OperandFacts operands, bool accumulates, double cycles) {
  if (operands.tiles + (accumulates ? 1 : 0) < 2) return cycles;
  Head two = head;
  two.instr = Instr::tensor_tensor;
  return std::max(cycles, cycles_of(two, operands));
}

void instruction(Cost& cost, const Head& head, const OperandFacts& operands, bool accumulates = false) {
  const double cycles = at_least_for_tiles(head, operands, accumulates, cycles_of(head, operands));
  switch (unit_of(head.instr)) {
    case Unit::none:
    case Unit::dma:  // transfer() has the bytes
      return;
    case Unit::tensor:
      return put_on(cost, Lane::tensor, cycles);
    case Unit::scalar:
      return put_on(cost, Lane::scalar, cycles);
    case Unit::vector:
      return put_on(cost, Lane::vector, cycles);
    case Unit::gpsimd:
      return put_on(cost, Lane::gpsimd, cycles);
    case Unit::any: {
      const double on_scalar = head.instr == Instr::reciprocal && cycles == cycles_of(head, operands)
                                   ? at_least(operands.per_partition)
                                   : cycles;
      if (head.engine == Engine::scalar) return put_on(cost, Lane::scalar, on_scalar);
      if (head.engine == Engine::gpsimd) return put_on(cost, Lane::gpsimd, cycles);
      put_on(cost, Lane::vector, cycles);
      // A kernel that asks for the vector engine gets it, but for reciprocals: the vendor's compiler moves them too.
      if (head.engine != Engine::vector || head.instr == Instr::reciprocal)
        cost.us_on_scalar = (on_scalar + kActOverhead) / (kActGhz * 1e3);
      return;
    }
    case Unit::vector_or_gpsimd:
      return put_on(cost, head.engine == Engine::gpsimd ? Lane::gpsimd : Lane::vector, cycles);
    case Unit::tensor_or_vector:
      return put_on(cost, head.engine == Engine::vector ? Lane::vector : Lane::tensor, cycles);
  }
}

bool moves_partition(const Program& program, const Access* access, std::size_t axis) {
  if (access == nullptr) return false;
  const Buffer& buffer = program.buffers[access->buffer];
  return is_on_chip(buffer.kind) && access->dims[buffer.partition_dim].slots[axis] != 0;
}

/// Of one side that lies in HBM. Its rows: from the last dimension on, axes that go on where the run so far ends, up
/// to where the on-chip side (`other`) changes its partition, which ends a descriptor. A short row is a descriptor as a
/// long one is, and costs as much as 512 bytes; each transfer costs its start.
void transfer(Cost& cost, const Program& program, const Head& head, const Access& access, const Access* other) {
  const Buffer& buffer = program.buffers[access.buffer];
  if (is_on_chip(buffer.kind)) return;
  std::int64_t run = 1, stride = 1;
  for (std::size_t dim = buffer.shape.size(); dim-- > 0; stride *= buffer.shape[dim]) {
    for (std::size_t axis = 0; axis < head.shape.size(); ++axis) {
      const std::int64_t slot = access.dims[dim].slots[axis];
      if (slot != 0 && slot * stride == run && !moves_partition(program, other, axis)) run *= head.shape[axis];
    }
  }
  const auto item = static_cast<double>(size_of(buffer.dtype));
  const double row_bytes = static_cast<double>(run) * item;
  const double moved = points_of(head.shape) * item * std::max(1.0, kDmaRowBytes / row_bytes);
  cost.dma_us += std::max(moved / kDmaBytesPerUs, kDmaStartUs);
}

/// From tile to tile, by DMA.
void transfer_on_chip(Cost& cost, const Program& program, const Map& map) {
  const auto item = static_cast<double>(size_of(program.buffers[map.dst.buffer].dtype));
  cost.dma_us = std::max(points_of(map.head.shape) * item / kDmaBytesPerUs, kDmaStartUs);
}

}  // namespace

Cost CostModel::of(const Map& map) const {
  Cost cost;
  const bool reads = map.sources[0].kind == Source::Kind::access;
  transfer(cost, program_, map.head, map.dst, reads ? &map.sources[0].access : nullptr);
  for (const Source& source : map.sources) {
    if (source.kind == Source::Kind::access) transfer(cost, program_, map.head, source.access, &map.dst);
  }
  if (unit_of(map.head.instr) == Unit::dma && cost.dma_us == 0) transfer_on_chip(cost, program_, map);
  instruction(cost, map.head, facts_of(program_, map.head, map.dst, map.sources), accumulates(map));
  cost.traffic = traffic_of(program_, map);
  return cost;
}

Cost CostModel::of(const Fold& fold) const {
  Cost cost;
  instruction(cost, fold.head, facts_of(program_, fold.head, fold.dst, fold.sources));
  cost.traffic = traffic_of(program_, fold);
  return cost;
}

Cost CostModel::of(const Scan& scan) const {
  Cost cost;
  instruction(cost, scan.head, facts_of(program_, scan.head, scan.dst, {scan.data0}));
  cost.traffic = traffic_of(program_, scan);
  return cost;
}

Cost CostModel::of(const SpecialOp& special) const {
  Cost cost;
  OperandFacts facts;
  look_at(program_, special.sources[0].access, special.head.shape, facts, true);
  instruction(cost, special.head, facts);
  cost.traffic = traffic_of(program_, special);
  return cost;
}

Cost CostModel::of(const Matmul& matmul) const {
  Cost cost;
  const auto k = static_cast<double>(matmul.head.shape[0]), m = static_cast<double>(matmul.head.shape[1]),
             n = static_cast<double>(matmul.head.shape[2]);
  // By what lies there: a view of another dtype makes no value narrower.
  const auto is_float32 = [&](const Access& operand) {
    return program_.buffers[root_of(program_, operand.buffer)].dtype == Dtype::float32;
  };
  const double passes = is_float32(matmul.moving) || is_float32(matmul.stationary) ? kFp32Passes : 1;
  put_on(cost, Lane::tensor, std::max(std::min(kMinCycles, m), n) * passes);
  cost.flops = 2 * k * m * n;
  cost.tensor_us = k / 128 * m / 128 * n * passes / (kPeGhz * 1e3);  // all of the 128 x 128 array at work
  cost.traffic = traffic_of(program_, matmul);
  return cost;
}

Cost CostModel::of_repeating(const Head& head, const Access& operand) const {
  Cost cost;
  cost.traffic = traffic_of_repeating(program_, head, operand);
  const double n = cost.traffic.sbuf_written / static_cast<double>(size_of(program_.buffers[operand.buffer].dtype));
  put_on(cost, Lane::vector, at_least(n));  // the copy out of PSUM; what PE takes hides behind it
  cost.us_on_scalar = (at_least(n) + kActOverhead) / (kActGhz * 1e3);
  return cost;
}

/// Is a value spread over its interval, so that a share of it can be told? Of loops and program ids that are each there
/// once, or of one mod that goes through all of its values, or of one quotient.
bool CostModel::is_spread(const Affine& affine) const {
  if (affine.terms.size() == 1) {
    const Atom& atom = program_.atoms[affine.terms[0].atom];
    if (atom.kind == Atom::Kind::floor_div || atom.kind == Atom::Kind::mod) {
      const Range range = ranges_.of(atom.operand);
      return range.exact && (atom.kind == Atom::Kind::floor_div || range.hi - range.lo + 1 >= atom.divisor);
    }
  }
  return ranges_.of(affine).exact;
}

std::optional<double> CostModel::share_of(const std::vector<Condition>& conditions) const {
  double share = 1;
  for (const Condition& condition : conditions) {
    if (!is_spread(condition.value.base)) return std::nullopt;
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

}  // namespace nkigrid::nkisim
