#include "runner/nkisim/program/validate_access.hpp"

#include <numeric>

#include <fmt/format.h>

namespace nkigrid::nkisim {
namespace {

constexpr std::int64_t kBankBytes = 2048;

}  // namespace

void AccessRules::affine(const Affine& affine) {
  if (affine.terms.size() > kMaxTerms) state_.fail(fmt::format("an index of more than {} terms", kMaxTerms));
  for (const Term& term : affine.terms) {
    if (term.atom >= state_.program.atoms.size()) state_.fail("an index names no atom");
    if ((state_.depends[term.atom] & ~state_.open_atoms).any())
      state_.fail("an index uses a loop variable outside of its loop");
  }
}

void AccessRules::index(const Index& index, std::size_t rank) {
  if (index.slots.size() != rank) state_.fail("an index has another rank than its operation");
  affine(index.base);
  if (rank == 0) state_.ranges.of(index.base);
}

void AccessRules::access(const Access& access, const std::vector<std::int64_t>& shape, const Use& use) {
  if (access.buffer >= state_.program.buffers.size()) state_.fail("an access of no buffer");
  const Buffer& what = state_.buffer(access.buffer);
  const std::uint32_t root = root_of(state_.program, access.buffer);
  if (access.dims.size() != what.shape.size())
    state_.fail(fmt::format("an access of '{}' has another rank", what.name));
  for (const Index& dim : access.dims) index(dim, shape.size());
  const bool needs_alloc = state_.on_chip(root) || what.kind == BufferKind::hbm;
  if (needs_alloc && !state_.allocated[root])
    state_.fail(fmt::format("'{}' is used outside of the region that allocates it", what.name));
  if (!use.dma && !state_.on_chip(root))
    state_.fail(fmt::format("'{}' lies in HBM; only loads, stores and DMA copies reach it", what.name));
  bounds(access, shape, use);
  const std::size_t blocks = state_.on_chip(root) ? what.partition_dim : 0;
  for (std::size_t dim = 0; use.one_tile && dim < blocks; ++dim) {
    for (const std::int64_t slot : access.dims[dim].slots) {
      if (slot != 0) state_.fail(fmt::format("'{}' is accessed over several blocks at once", what.name));
    }
  }
  if (state_.on_chip(root) && !use.dma && !use.checked_when_run) partition_start(access, shape);
  if (access.dynamic) index_tile(access, shape, use);
}

void AccessRules::index_tile(const Access& access, const std::vector<std::int64_t>& shape, const Use& use) {
  const Buffer& what = state_.buffer(access.buffer);
  if (!use.may_be_dynamic)
    state_.fail(fmt::format("'{}' is accessed through an index tile by an operation that cannot", what.name));
  if (access.dynamic_dim < 0 || static_cast<std::size_t>(access.dynamic_dim) >= access.dims.size())
    state_.fail("a wrong dynamic dimension");
  if (access.dynamic->dynamic) state_.fail("an index tile is itself accessed dynamically");
  Use reading = use;
  reading.written = false;
  reading.may_be_dynamic = false;
  reading.checked_when_run = true;  // an index tile may start at any partition
  this->access(*access.dynamic, shape, reading);
  if (is_float(state_.buffer(access.dynamic->buffer).dtype)) state_.fail("an index tile holds floats");
  if (use.written && root_of(state_.program, access.dynamic->buffer) == root_of(state_.program, access.buffer))
    state_.fail("an index tile lies in the destination");
}

void AccessRules::bounds(const Access& access, const std::vector<std::int64_t>& shape, const Use& use) {
  const Buffer& what = state_.buffer(access.buffer);
  for (std::size_t dim = 0; dim < access.dims.size(); ++dim) {
    const Range range = state_.ranges.of(access.dims[dim], shape);
    // Addresses are computed in 64 bits: the whole range must be representable in bytes of the buffer.
    checked_product({std::max(std::abs(range.lo), std::abs(range.hi)) + 1}, 16);
    if (access.dynamic_dim == static_cast<std::int32_t>(dim)) continue;
    const bool inside = range.lo >= 0 && range.hi < what.shape[dim];
    if (inside || !range.exact || use.checked_when_run || state_.branches > 0) continue;
    state_.fail(fmt::format(
        "out-of-bound access of tensor '{}' on dimension {}: index range [{}, {}] exceeds the dimension's size of {}",
        what.name, dim, range.lo, range.hi, what.shape[dim]));
  }
}

void AccessRules::destination(const Access& access, const std::vector<std::int64_t>& shape, Use use, double times) {
  use.written = true;
  this->access(access, shape, use);
  const Buffer& what = state_.buffer(access.buffer);
  if (what.kind == BufferKind::param) state_.fail(fmt::format("parameter '{}' is written", what.name));
  if (what.kind == BufferKind::constant) state_.fail(fmt::format("constant '{}' is written", what.name));
  if (times > 0) state_.written[root_of(state_.program, access.buffer)] = true;
}

/// More than 64 partitions begin at 0, more than 32 at 0 or 64, fewer at a multiple of 32; no steps along partitions.
/// Only what the affine form shows: an index through floor_div or mod is left to the tracer.
void AccessRules::partition_start(const Access& access, const std::vector<std::int64_t>& shape) {
  const Buffer& what = state_.buffer(access.buffer);
  const Index& index = access.dims[what.partition_dim];
  std::int64_t count = 1, moving = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (index.slots[axis] == 0 || shape[axis] == 1) continue;
    ++moving;
    count = shape[axis];
    if (index.slots[axis] != 1)
      state_.fail(
          fmt::format("'{}' is accessed with a step of {} along partitions (legal: 1)", what.name, index.slots[axis]));
  }
  if (moving > 1) return;
  const std::int64_t unit = count > 64 ? 128 : (count > 32 ? 64 : 32);
  bool legal = index.base.constant % unit == 0;
  for (const Term& term : index.base.terms) {
    const Atom::Kind kind = state_.program.atoms[term.atom].kind;
    if (kind == Atom::Kind::floor_div || kind == Atom::Kind::mod) return;
    legal = legal && (term.coefficient % unit == 0 || state_.ranges.atom(term.atom).hi == 0);
  }
  if (!legal) {
    state_.fail(fmt::format("an access of {} partitions of '{}' begins at a partition that is no multiple of {}", count,
                            what.name, unit));
  }
}

/// One matmul result lies within one bank of 2 KiB a partition.
void AccessRules::psum_bank(const Access& access, const std::vector<std::int64_t>& shape) {
  const Buffer& what = state_.buffer(access.buffer);
  std::int64_t stride = static_cast<std::int64_t>(size_of(what.dtype)), start = 0, step = kBankBytes, span = stride;
  for (std::size_t dim = what.shape.size(); dim-- > what.partition_dim + 1U; stride *= what.shape[dim]) {
    const Index& index = access.dims[dim];
    start += index.base.constant * stride;
    for (const Term& term : index.base.terms) {
      if (state_.ranges.atom(term.atom).hi != state_.ranges.atom(term.atom).lo)
        step = std::gcd(step, std::abs(term.coefficient * stride));
    }
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      span += std::abs(index.slots[axis]) * (shape[axis] - 1) * stride;
  }
  // Starts are start + multiples of step: the last one within a bank must leave room for the span.
  const std::int64_t first = ((start % step) + step) % step;
  if (step != kBankBytes ? kBankBytes - step + first + span > kBankBytes : first + span > kBankBytes) {
    state_.fail(fmt::format("a matmul's result in '{}' does not lie within one PSUM bank of {} bytes a partition",
                            what.name, kBankBytes));
  }
}

}  // namespace nkigrid::nkisim
