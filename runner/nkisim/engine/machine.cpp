#include "runner/nkisim/engine/machine.hpp"

#include <new>

#include <fmt/format.h>

#include "runner/nkisim/engine/observer.hpp"

namespace nkigrid::nkisim {

Machine::Machine(const Program& p, const Poison& poisoned, std::uint64_t memory_bytes)
    : atoms(p.atoms.size(), 0),
      storages(p.buffers.size()),
      budget(memory_bytes),
      program(p),
      poison(poisoned),
      rows(row_kernels()),
      scratch_(kRowBuffers * kChunk * 4) {
  if (scratch_.data() == nullptr) throw std::bad_alloc();
}

void Machine::out_of_bounds(const View& view, const View::Check& check, std::int64_t index) const {
  const Buffer& buffer = program.buffers[view.buffer];
  throw Fault{Code::oob, fmt::format("out-of-bound access of tensor '{}' on dimension {}: index {} (legal: 0 to {})",
                                     buffer.name, check.dim, index, check.extent - 1)};
}

bool Machine::resolve(const Space& space, const View& view, std::size_t axis, std::int64_t lo, std::int64_t hi,
                      RowAt& out) {
  const auto value = [&](std::uint32_t form, std::int64_t j) { return values[form] + space.step(form, axis) * j; };
  for (const View::Check& check : view.checks) {
    for (const std::int64_t j : {lo, hi - 1}) {
      const std::int64_t index = value(check.form, j);
      if (index < 0 || index >= check.extent) out_of_bounds(view, check, index);
    }
  }
  std::uint64_t offset = static_cast<std::uint64_t>(values[view.offset]);
  std::uint64_t block = view.block < 0 ? 0 : static_cast<std::uint64_t>(values[static_cast<std::size_t>(view.block)]);
  if (view.tile) {
    RowAt at;
    if (!resolve(space, *view.tile, axis, lo, lo + 1, at)) return false;
    note_read(*view.tile, at, 1);
    std::int32_t read = 0;
    rows.load_i32(view.tile->dtype, at.at, 0, 1, &read);
    const std::int64_t moved =
        view.tile->dtype == Dtype::uint32 ? static_cast<std::int64_t>(static_cast<std::uint32_t>(read)) : read;
    for (const std::int64_t j : {lo, hi - 1}) {
      const std::int64_t index = value(view.dynamic.form, j) + moved;
      if (index >= 0 && index < view.dynamic.extent) continue;
      if (view.skip) return false;
      out_of_bounds(view, view.dynamic, index);
    }
    (view.dynamic_block ? block : offset) +=
        static_cast<std::uint64_t>(moved) * static_cast<std::uint64_t>(view.dynamic_stride);
  }
  out.stride = space.step(view.offset, axis);
  out.offset =
      static_cast<std::int64_t>(offset + static_cast<std::uint64_t>(out.stride) * static_cast<std::uint64_t>(lo));
  out.tile = &storages[view.root].touch(block, poison, &budget);
  out.at = out.tile->data + out.offset;
  out.block = block;
  return true;
}

void Machine::tell_observer(const View& view, const RowAt& row, std::size_t n) {
  const Storage& storage = storages[view.root];
  observer->read({view.buffer, view.root, line, view.item, row.stride,
                  static_cast<std::int64_t>(row.block * storage.tile_bytes), row.offset, storage.granule, n},
                 *row.tile);
}

void Machine::mark_written(std::uint32_t root, Tile& tile, std::int64_t offset, std::int64_t stride, std::int64_t item,
                           std::size_t n) {
  const auto granule = static_cast<std::int64_t>(storages[root].granule);
  const auto each = static_cast<std::uint64_t>(item / granule);
  if (stride == item) return set_bits(tile.written, static_cast<std::uint64_t>(offset / granule), each * n);
  for (std::size_t j = 0; j < n; ++j, offset += stride)
    set_bits(tile.written, static_cast<std::uint64_t>(offset / granule), each);
}

void Machine::check_memory(std::uint64_t bytes) const {
  if (bytes > budget)
    throw Fault{Code::capacity, "an operation onto its own source needs more memory than the limit allows"};
}

}  // namespace nkigrid::nkisim
