#include <algorithm>
#include <cstring>

#include "runner/nkisim/engine/exec.hpp"
#include "runner/nkisim/engine/expression.hpp"
#include "runner/nkisim/engine/store.hpp"

namespace nkigrid::nkisim {
namespace {

template <class T>
class MapExec final : public Exec {
 public:
  MapExec(const Map& map, const Lowering& lowering)
      : space_(lowering.program, lowering.ranges, map.head.shape, map.head.mask),
        expression_(space_, map.sources, map.steps),
        store_(space_, map.dst, map.accumulate, map.loops, must_defer(lowering.program, map.dst, map.sources),
               lowering) {
    // Several points of a row that add to one element must do so one after the other.
    for (std::size_t axis = 0; map.accumulate != kNoAccumulate && axis < space_.rank(); ++axis) {
      if (!space_.moves(store_.view().offset, axis)) space_.forbid_inner(axis);
    }
    space_.layout(std::vector<bool>(map.head.shape.size(), false), true);
    row_axis_ = space_.rank() - 1;
  }

  void run(Machine& machine) override {
    space_.begin(machine.atoms.data(), machine.values);
    store_.begin(machine);
    Space::Spans spans;
    Odometer odometer(space_, machine.values, 0, row_axis_);
    do {
      const int count = space_.spans(machine.values.data(), row_axis_, spans);
      for (int k = 0; k < count; ++k) row(machine, spans[static_cast<std::size_t>(k)]);
    } while (odometer.next());
    store_.finish(machine);
  }

 private:
  void row(Machine& machine, Span span) {
    RowAt to;
    if (!machine.resolve(space_, store_.view(), row_axis_, span.lo, span.hi, to)) return;
    if (!expression_.begin_row(machine, space_, row_axis_, span.lo, span.hi)) return;
    const std::int64_t length = span.hi - span.lo;
    if (row_axis_ > 0) {
      fetch_next(machine, space_, store_.view(), to, row_axis_ - 1, length);
      expression_.fetch_next_row(machine, space_, row_axis_ - 1, length);
    }
    const bool in_memory = store_.direct(to, 0) != nullptr;
    const auto chunk = static_cast<std::int64_t>(in_memory ? expression_.most_at_once() : kChunk);
    for (std::int64_t skip = 0; skip < length; skip += chunk) {
      const std::size_t n = static_cast<std::size_t>(std::min(chunk, length - skip));
      T* direct = nullptr;
      if constexpr (std::is_same_v<T, float>) direct = store_.direct(to, skip);
      Operand<T> result = expression_.evaluate(machine, skip, n, direct);
      if (result.data == direct && direct != nullptr) {
        store_.mark_direct(machine, to, skip, n);
        continue;
      }
      if (result.scalar) {
        T* spread = machine.buffer<T>(kStoreBuffer);
        std::fill(spread, spread + n, *result.data);
        result = {spread, false};
      }
      store_.put(machine, to, skip, n, result.data);
    }
  }

  Space space_;
  Expression<T> expression_;
  Store<T> store_;
  std::size_t row_axis_ = 0;
};

template <class T>
void copy_strided(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                  std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) std::memcpy(to + j * to_stride, from + j * from_stride, sizeof(T));
}

/// Copies elements bit for bit.
class RawExec final : public Exec {
 public:
  RawExec(const Map& map, const Lowering& lowering)
      : space_(lowering.program, lowering.ranges, map.head.shape, map.head.mask),
        from_(space_.add(map.sources[0].access)),
        to_(space_.add(map.dst)),
        defer_(must_defer(lowering.program, map.dst, map.sources)) {
    space_.layout(std::vector<bool>(map.head.shape.size(), false), true);
    row_axis_ = space_.rank() - 1;
  }

  void run(Machine& machine) override {
    space_.begin(machine.atoms.data(), machine.values);
    Space::Spans spans;
    Odometer odometer(space_, machine.values, 0, row_axis_);
    do {
      const int count = space_.spans(machine.values.data(), row_axis_, spans);
      for (int k = 0; k < count; ++k) row(machine, spans[static_cast<std::size_t>(k)]);
    } while (odometer.next());
    std::size_t at = 0;
    for (const auto& [row, n] : pending_) {
      write(machine, row, held_.data() + at, to_.item, n);
      at += static_cast<std::size_t>(n * to_.item);
    }
    pending_.clear();
    held_.clear();
  }

 private:
  void row(Machine& machine, Span span) {
    RowAt to, from;
    if (!machine.resolve(space_, to_, row_axis_, span.lo, span.hi, to)) return;
    if (!machine.resolve(space_, from_, row_axis_, span.lo, span.hi, from)) return;
    const std::int64_t n = span.hi - span.lo;
    machine.note_read(from_, from, static_cast<std::size_t>(n));
    if (!defer_) return write(machine, to, from.at, from.stride, n);
    const std::size_t at = held_.size(), bytes = static_cast<std::size_t>(n * to_.item);
    machine.check_memory(at + bytes + pending_.size() * sizeof(pending_[0]));
    held_.resize(at + bytes);
    copy(held_.data() + at, to_.item, from.at, from.stride, n);
    pending_.emplace_back(to, n);
  }
  void write(Machine& machine, const RowAt& to, const std::byte* from, std::int64_t from_stride, std::int64_t n) {
    copy(to.at, to.stride, from, from_stride, n);
    machine.mark(to_.root, *to.tile, to.offset, to.stride, to_.item, static_cast<std::size_t>(n));
  }
  void copy(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
            std::int64_t n) const {
    if (to_stride == to_.item && from_stride == to_.item) {
      std::memmove(to, from, static_cast<std::size_t>(n * to_.item));
    } else if (to_.item == 4) {
      copy_strided<std::uint32_t>(to, to_stride, from, from_stride, n);
    } else if (to_.item == 2) {
      copy_strided<std::uint16_t>(to, to_stride, from, from_stride, n);
    } else {
      copy_strided<std::uint8_t>(to, to_stride, from, from_stride, n);
    }
  }

  Space space_;
  View from_, to_;
  bool defer_;
  std::size_t row_axis_ = 0;
  std::vector<std::pair<RowAt, std::int64_t>> pending_;
  std::vector<std::byte> held_;
};

}  // namespace

std::unique_ptr<Exec> lower(const Map& map, const Lowering& lowering) {
  if (map.work == Work::raw) return std::make_unique<RawExec>(map, lowering);
  if (map.work == Work::int32) return std::make_unique<MapExec<std::int32_t>>(map, lowering);
  return std::make_unique<MapExec<float>>(map, lowering);
}

}  // namespace nkigrid::nkisim
