#include <algorithm>

#include "runner/nkisim/engine/exec.hpp"
#include "runner/nkisim/engine/expression.hpp"
#include "runner/nkisim/engine/store.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr std::size_t kFoldChunk = 256;

/// An axis along which the destination stands still.
std::vector<bool> folded_axes(const Fold& fold) {
  std::vector<bool> folded(fold.head.shape.size(), true);
  for (const Index& dim : fold.dst.dims) {
    for (std::size_t axis = 0; axis < folded.size(); ++axis) {
      if (dim.slots[axis] != 0) folded[axis] = false;
    }
  }
  return folded;
}

/// Rows along a kept axis (vectors of partial results) or along a folded one (16 lanes)? The kept one where the folded
/// is short or the data lies along the kept one.
bool row_is_kept(const Fold& fold, const std::vector<bool>& folded) {
  std::size_t kept = folded.size(), last = folded.size();
  for (std::size_t axis = 0; axis < folded.size(); ++axis) {
    if (fold.head.shape[axis] > 1) (folded[axis] ? last : kept) = axis;
  }
  if (kept == folded.size() || fold.head.shape[kept] < 16) return false;
  if (last == folded.size()) return true;
  const Source& data = fold.sources[0];
  const bool lies_along_kept =
      data.kind == Source::Kind::access && !data.access.dims.empty() && data.access.dims.back().slots[kept] != 0;
  return fold.head.shape[last] < 16 || lies_along_kept;
}

template <class T>
class FoldExec final : public Exec {
 public:
  FoldExec(const Fold& fold, const Lowering& lowering)
      : space_(lowering.program, lowering.ranges, fold.head.shape, fold.head.mask),
        expression_(space_, fold.sources, fold.steps),
        store_(space_, fold.dst, fold.accumulate, fold.loops, must_defer(lowering.program, fold.dst, fold.sources),
               lowering),
        function_(fold.function),
        negate_(fold.negate) {
    const std::vector<bool> folded = folded_axes(fold);
    along_kept_ = row_is_kept(fold, folded);
    kept_ = space_.layout(folded, along_kept_);
    row_axis_ = space_.rank() - 1;
  }

  void run(Machine& machine) override {
    space_.begin(machine.atoms.data(), machine.values);
    store_.begin(machine);
    Odometer kept(space_, machine.values, 0, kept_);
    do {
      if (along_kept_) {
        for (std::int64_t c = 0; c < space_.extent(row_axis_); c += static_cast<std::int64_t>(kFoldChunk)) {
          const std::int64_t end = std::min(space_.extent(row_axis_), c + static_cast<std::int64_t>(kFoldChunk));
          fold_vectors(machine, c, end);
        }
      } else {
        fold_rows(machine);
      }
    } while (kept.next());
    store_.finish(machine);
  }

 private:
  using Lane = typename Rows<T>::Lane;

  /// One destination element: the folded axes run along the rows.
  void fold_rows(Machine& machine) {
    Lane lanes[kLanes];
    std::fill(lanes, lanes + kLanes, static_cast<Lane>(Rows<T>::identity(machine.rows, function_)));
    bool any = false;
    Odometer outer(space_, machine.values, kept_, row_axis_);
    do {
      const int count = space_.spans(machine.values.data(), row_axis_, spans_);
      for (int k = 0; k < count; ++k) any = fold_span(machine, spans_[static_cast<std::size_t>(k)], lanes) || any;
    } while (outer.next());
    if (!any) return;
    T total = Rows<T>::join(machine.rows, function_, lanes);
    write(machine, 0, 1, &total);
  }

  bool fold_span(Machine& machine, Span span, Lane* lanes) {
    if (!expression_.begin_row(machine, space_, row_axis_, span.lo, span.hi)) return false;
    const std::int64_t length = span.hi - span.lo;
    for (std::int64_t skip = 0; skip < length; skip += static_cast<std::int64_t>(kChunk)) {
      const std::size_t n = static_cast<std::size_t>(std::min<std::int64_t>(kChunk, length - skip));
      const Operand<T> values = spread(machine, expression_.evaluate(machine, skip, n, nullptr), n);
      Rows<T>::fold(machine.rows, function_, lanes, values.data, n, static_cast<std::size_t>(span.lo + skip) % kLanes);
    }
    return true;
  }

  /// Destination elements [begin, end) of a kept row: vectors of partial results, one a lane.
  void fold_vectors(Machine& machine, std::int64_t begin, std::int64_t end) {
    alignas(64) T lanes[kLanes][kFoldChunk];
    bool any[kFoldChunk] = {};
    const auto n = static_cast<std::size_t>(end - begin);
    for (auto& lane : lanes) std::fill(lane, lane + n, Rows<T>::identity(machine.rows, function_));
    Odometer outer(space_, machine.values, kept_, row_axis_);
    do {
      const std::size_t lane = row_axis_ > kept_ ? static_cast<std::size_t>(outer.at(row_axis_ - 1)) % kLanes : 0;
      const int count = space_.spans(machine.values.data(), row_axis_, spans_);
      for (int k = 0; k < count; ++k) {
        const std::int64_t lo = std::max(begin, spans_[static_cast<std::size_t>(k)].lo);
        const std::int64_t hi = std::min(end, spans_[static_cast<std::size_t>(k)].hi);
        if (lo >= hi || !expression_.begin_row(machine, space_, row_axis_, lo, hi)) continue;
        T* partial = lanes[lane] + (lo - begin);
        const Operand<T> operands[2] = {{partial, false},
                                        expression_.evaluate(machine, 0, static_cast<std::size_t>(hi - lo), nullptr)};
        Rows<T>::apply(machine.rows, function_, operands, static_cast<std::size_t>(hi - lo), partial);
        std::fill(any + (lo - begin), any + (hi - begin), true);
      }
    } while (outer.next());
    for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::size_t lane = 0; lane < half; ++lane) {
        const Operand<T> operands[2] = {{lanes[lane], false}, {lanes[lane + half], false}};
        Rows<T>::apply(machine.rows, function_, operands, n, lanes[lane]);
      }
    }
    for (std::size_t j = 0; j < n;) {
      std::size_t stop = j;
      while (stop < n && any[stop]) ++stop;
      if (stop > j) write(machine, begin + static_cast<std::int64_t>(j), stop - j, lanes[0] + j);
      j = stop + 1;
    }
  }

  Operand<T> spread(Machine& machine, Operand<T> values, std::size_t n) const {
    if (!values.scalar) return values;
    T* all = machine.buffer<T>(kStoreBuffer);
    std::fill(all, all + n, *values.data);
    return {all, false};
  }

  void write(Machine& machine, std::int64_t at, std::size_t n, T* values) {
    RowAt to;
    if (!machine.resolve(space_, store_.view(), row_axis_, at, at + static_cast<std::int64_t>(n), to)) return;
    if (negate_) {
      const Operand<T> operand{values, false};
      Rows<T>::apply(machine.rows, Fn::negative, &operand, n, values);
    }
    store_.put(machine, to, 0, n, values);
  }

  Space space_;
  Expression<T> expression_;
  Store<T> store_;
  Fn function_;
  bool negate_, along_kept_ = false;
  std::size_t kept_ = 0, row_axis_ = 0;
  Space::Spans spans_{};
};

}  // namespace

std::unique_ptr<Exec> lower(const Fold& fold, const Lowering& lowering) {
  if (fold.work == Work::int32) return std::make_unique<FoldExec<std::int32_t>>(fold, lowering);
  return std::make_unique<FoldExec<float>>(fold, lowering);
}

}  // namespace nkigrid::nkisim
