#include "runner/nkisim/estimate/traffic.hpp"

#include <algorithm>

#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr double kFp32PassesCounted = 2;  ///< hardware_flops of fp32 matmuls and transposes are twice their operations

bool moves(const Access& access, std::size_t dim, std::size_t axis) {
  const std::vector<std::int64_t>& slots = access.dims[dim].slots;
  return axis < slots.size() && slots[axis] != 0;
}

/// Each element that an access touches, once: an axis that it does not walk repeats them.
double bytes_of(const Program& program, const Access& access, const std::vector<std::int64_t>& shape,
                bool of_a_partition) {
  const Buffer& buffer = program.buffers[access.buffer];
  double bytes = static_cast<double>(size_of(buffer.dtype));
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    bool walks = false;
    for (std::size_t dim = 0; dim < access.dims.size(); ++dim) walks = walks || moves(access, dim, axis);
    if (walks && !(of_a_partition && moves(access, buffer.partition_dim, axis)))
      bytes *= static_cast<double>(shape[axis]);
  }
  return bytes;
}

void count(Traffic& sum, BufferKind kind, bool written, double bytes) {
  switch (kind) {
    case BufferKind::sbuf:
      (written ? sum.sbuf_written : sum.sbuf_read) += bytes;
      return;
    case BufferKind::psum:
      (written ? sum.psum_written : sum.psum_read) += bytes;
      return;
    default:
      (written ? sum.hbm_written : sum.hbm_read) += bytes;
  }
}

/// The profiler counts no bytes of these.
bool is_counted(Instr instr) {
  return instr != Instr::part_of_former && instr != Instr::tensor_tensor && instr != Instr::scan;
}

double passes_of(const Program& program, const Access& moving) {
  return program.buffers[moving.buffer].dtype == Dtype::float32 ? kFp32PassesCounted : 1;
}

template <class Op>
Traffic plain(const Program& program, const Op& op) {
  Traffic sum;
  bool transfers = false;
  for_each_access(op, [&](const Access& access, bool) {
    transfers = transfers || !is_on_chip(program.buffers[access.buffer].kind);
  });
  if (!transfers && !is_counted(op.head.instr)) return sum;
  for_each_access(op, [&](const Access& access, bool written) {
    count(sum, program.buffers[access.buffer].kind, written, bytes_of(program, access, op.head.shape, !transfers));
  });
  return sum;
}

/// On PE: what is transposed stands still, an identity of as many columns as the result has moves past it.
Traffic of_transpose(const Program& program, const Map& map) {
  Traffic sum;
  const Access& from = map.sources[0].access;
  const double passes = passes_of(program, from), made = bytes_of(program, map.dst, map.head.shape, true);
  count(sum, program.buffers[from.buffer].kind, false, passes * (bytes_of(program, from, map.head.shape, true) + made));
  count(sum, program.buffers[map.dst.buffer].kind, true, passes * made);
  return sum;
}

}  // namespace

Traffic& operator+=(Traffic& sum, const Traffic& part) {
  sum.hbm_read += part.hbm_read;
  sum.hbm_written += part.hbm_written;
  sum.sbuf_read += part.sbuf_read;
  sum.sbuf_written += part.sbuf_written;
  sum.psum_read += part.psum_read;
  sum.psum_written += part.psum_written;
  return sum;
}

Traffic operator*(double times, const Traffic& traffic) {
  return {times * traffic.hbm_read,     times * traffic.hbm_written, times * traffic.sbuf_read,
          times * traffic.sbuf_written, times * traffic.psum_read,   times * traffic.psum_written};
}

Traffic traffic_of(const Program& program, const Map& map) {
  const bool on_pe = map.head.instr == Instr::transpose && map.head.engine != Engine::vector;
  if (on_pe) return of_transpose(program, map);
  if (map.head.instr == Instr::partition_broadcast && map.sources[0].kind == Source::Kind::access)
    return traffic_of_repeating(program, map.head, map.sources[0].access);
  return plain(program, map);
}
Traffic traffic_of(const Program& program, const Fold& fold) { return plain(program, fold); }
Traffic traffic_of(const Program& program, const Scan& scan) { return plain(program, scan); }
Traffic traffic_of(const Program& program, const SpecialOp& special) { return plain(program, special); }

Traffic traffic_of(const Program& program, const Matmul& matmul) {
  Traffic sum;
  const double passes = passes_of(program, matmul.moving);
  for_each_access(matmul, [&](const Access& access, bool written) {
    count(sum, program.buffers[access.buffer].kind, written,
          passes * bytes_of(program, access, matmul.head.shape, true));
  });
  return sum;
}

bool is_repeated(const Program& program, const Map& map, const Access& operand) {
  const Buffer &from = program.buffers[operand.buffer], &to = program.buffers[map.dst.buffer];
  if (!is_on_chip(from.kind) || !is_on_chip(to.kind) || unit_of(map.head.instr) == Unit::tensor) return false;
  bool several = false;
  for (std::size_t axis = 0; axis < map.head.shape.size(); ++axis) {
    if (map.head.shape[axis] == 1) continue;
    if (moves(operand, from.partition_dim, axis)) return false;
    several = several || moves(map.dst, to.partition_dim, axis);
  }
  return several;
}

Traffic traffic_of_repeating(const Program& program, const Head& head, const Access& operand) {
  const double bytes = bytes_of(program, operand, head.shape, true);
  return {0, 0, bytes, bytes, bytes, bytes};
}

}  // namespace nkigrid::nkisim
