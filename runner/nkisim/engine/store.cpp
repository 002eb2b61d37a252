#include "runner/nkisim/engine/store.hpp"

#include <algorithm>

namespace nkigrid::nkisim {
namespace {

bool same(const Access& a, const Access& b) {
  return a.buffer == b.buffer && !a.dynamic && !b.dynamic && a.dims == b.dims;
}

/// No two points of the space are one element, as far as slots alone can tell: each axis moves one dimension of its
/// own.
bool touches_each_once(const Access& access) {
  for (std::size_t axis = 0; !access.dims.empty() && axis < access.dims[0].slots.size(); ++axis) {
    int moved = 0;
    for (const Index& dim : access.dims) {
      if (dim.slots[axis] == 0) continue;
      ++moved;
      for (std::size_t other = 0; other < dim.slots.size(); ++other) {
        if (other != axis && dim.slots[other] != 0) return false;
      }
    }
    if (moved == 0) return false;
  }
  return true;
}

}  // namespace

bool must_defer(const Program& program, const Access& dst, const std::vector<Source>& sources) {
  const std::uint32_t root = root_of(program, dst.buffer);
  return std::any_of(sources.begin(), sources.end(), [&](const Source& source) {
    if (source.kind != Source::Kind::access) return false;
    if (source.access.dynamic && root_of(program, source.access.dynamic->buffer) == root) return true;
    if (root_of(program, source.access.buffer) != root) return false;
    return !same(source.access, dst) || !touches_each_once(dst);
  });
}

template <class T>
Store<T>::Store(Space& space, const Access& dst, std::uint8_t accumulate, const std::vector<std::uint32_t>& loops,
                bool defer, const Lowering& lowering)
    : view_(space.add(dst)), accumulate_(accumulate), defer_(defer) {
  for (const std::uint32_t id : loops) loops_.push_back(lowering.loop_numbers.at(id));
}

template <class T>
void Store<T>::begin(Machine& machine) {
  first_trip_ = !loops_.empty() &&
                std::all_of(loops_.begin(), loops_.end(), [&](std::uint32_t l) { return machine.trips[l] == 0; });
}

template <class T>
void Store<T>::write(Machine& machine, const RowAt& row, std::size_t n, const T* values) {
  const bool overwrite = accumulate_ == kNoAccumulate || (first_trip_ && !row.tile->filled);
  if (!overwrite) {
    machine.note_read(view_, row, n);
    T* old = machine.buffer<T>(kOldBuffer);
    Rows<T>::load(machine.rows, view_.dtype, row.at, row.stride, n, old);
    const Operand<T> operands[2] = {{old, false}, {values, false}};
    Rows<T>::apply(machine.rows, static_cast<Fn>(accumulate_), operands, n, old);
    values = old;
  }
  Rows<T>::store(machine.rows, view_.dtype, row.at, row.stride, n, values, machine.poison.int_byte);
  // The first trip of a looped accumulation overwrites what nothing filled since the alloc. Its own writes are no fill:
  // the tile's other rows must still find it so.
  if (loops_.empty()) {
    machine.mark(view_.root, *row.tile, row.offset, row.stride, view_.item, n);
  } else if (!row.tile->written.empty()) {
    machine.mark_written(view_.root, *row.tile, row.offset, row.stride, view_.item, n);
  }
}

template <class T>
void Store<T>::put(Machine& machine, const RowAt& row, std::int64_t skip, std::size_t n, const T* values) {
  RowAt part = row;
  part.at += row.stride * skip;
  part.offset += row.stride * skip;
  if (!defer_) return write(machine, part, n, values);
  machine.check_memory((held_.size() + n) * sizeof(T) + pending_.size() * sizeof(Pending));
  pending_.push_back({part, n, held_.size()});
  held_.insert(held_.end(), values, values + n);
}

template <class T>
void Store<T>::finish(Machine& machine) {
  for (const Pending& p : pending_) write(machine, p.row, p.n, held_.data() + p.first);
  pending_.clear();
  held_.clear();
}

template <class T>
float* Store<T>::direct(const RowAt& row, std::int64_t skip) const {
  const bool may = std::is_same_v<T, float> && !defer_ && accumulate_ == kNoAccumulate &&
                   view_.dtype == Dtype::float32 && row.stride == 4;
  return may ? reinterpret_cast<float*>(row.at) + skip : nullptr;
}

template <class T>
void Store<T>::mark_direct(Machine& machine, const RowAt& row, std::int64_t skip, std::size_t n) const {
  machine.mark(view_.root, *row.tile, row.offset + row.stride * skip, row.stride, view_.item, n);
}

template class Store<float>;
template class Store<std::int32_t>;

}  // namespace nkigrid::nkisim
