#include <cblas.h>

#include <algorithm>

#include "runner/nkisim/engine/exec.hpp"
#include "runner/nkisim/engine/machine.hpp"

namespace nkigrid::nkisim {
namespace {

/// One operand as sgemm takes it.
struct Operand2 {
  const float* data = nullptr;
  std::int64_t leading = 0;
  bool transposed = false;
};

class MatmulExec final : public Exec {
 public:
  MatmulExec(const Matmul& op, const Lowering& lowering)
      : space_(lowering.program, lowering.ranges, op.head.shape, op.head.mask),
        dst_(space_.add(op.dst)),
        stationary_(space_.add(op.stationary)),
        moving_(space_.add(op.moving)),
        accumulate_(op.accumulate) {
    space_.layout_fixed();
  }

  void run(Machine& machine) override {
    space_.begin(machine.atoms.data(), machine.values);
    Space::Spans rows, columns;
    const int row_spans = space_.own_spans(machine.values.data(), 1, rows),
              column_spans = space_.own_spans(machine.values.data(), 2, columns);
    lane_spans_ = space_.own_spans(machine.values.data(), 0, lanes_);
    if (lane_spans_ == 0) return;
    for (int i = 0; i < row_spans; ++i) {
      for (int j = 0; j < column_spans; ++j)
        box(machine, rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
    }
  }

 private:
  enum class State { virgin, written, mixed };

  /// The part of the result that the mask leaves in one piece, over the lanes that it leaves.
  void box(Machine& machine, Span rows, Span columns) {
    m_ = rows.hi - rows.lo;
    n_ = columns.hi - columns.lo;
    k_ = 0;
    for (int s = 0; s < lane_spans_; ++s)
      k_ += lanes_[static_cast<std::size_t>(s)].hi - lanes_[static_cast<std::size_t>(s)].lo;
    space_.begin(machine.atoms.data(), machine.values);
    space_.move(machine.values, 0, lanes_[0].lo);
    space_.move(machine.values, 1, rows.lo);
    space_.move(machine.values, 2, columns.lo);
    check_box(machine, dst_);
    check_box(machine, stationary_);
    check_box(machine, moving_);
    const Operand2 a = pack(machine, stationary_, 1, m_, packed_a_), b = pack(machine, moving_, 2, n_, packed_b_);
    const RowAt to = origin(machine, dst_);
    const std::int64_t row = space_.step(dst_.offset, 1), column = space_.step(dst_.offset, 2);
    const State state = accumulate_ ? state_of(machine, to) : State::virgin;
    const bool straight =
        dst_.dtype == Dtype::float32 && (column == 4 || n_ == 1) && (m_ == 1 || (row >= 4 * n_ && row % 4 == 0));
    if (straight && state != State::mixed) {
      multiply(a, b, reinterpret_cast<float*>(to.at), m_ == 1 ? n_ : row / 4, state == State::written ? 1.0f : 0.0f);
    } else {
      product_.resize(static_cast<std::size_t>(m_ * n_));
      multiply(a, b, product_.data(), n_, 0.0f);
      scatter(machine, to, state);
    }
    for (std::int64_t i = 0; i < m_; ++i) {
      machine.mark(dst_.root, *to.tile, to.offset + i * row, n_ == 1 ? dst_.item : column, dst_.item,
                   static_cast<std::size_t>(n_));
    }
  }

  /// Checks indices that no interval proved at the corners of the box.
  void check_box(Machine& machine, const View& view) {
    if (view.checks.empty()) return;
    RowAt unused;
    const std::int64_t last_lane = lanes_[static_cast<std::size_t>(lane_spans_ - 1)].hi - 1 - lanes_[0].lo;
    for (const std::int64_t lane : {std::int64_t{0}, last_lane}) {
      for (const std::int64_t row : {std::int64_t{0}, m_ - 1}) {
        space_.move(machine.values, 0, lane);
        space_.move(machine.values, 1, row);
        machine.resolve(space_, view, 2, 0, n_, unused);
        space_.move(machine.values, 1, -row);
        space_.move(machine.values, 0, -lane);
      }
    }
  }
  RowAt origin(Machine& machine, const View& view) {
    RowAt at;
    machine.resolve(space_, view, 2, 0, 1, at);
    return at;
  }

  /// A (K, X) operand, x of X: as it lies when its lanes are neighbours and one of its strides is the element, else
  /// gathered.
  Operand2 pack(Machine& machine, const View& view, std::size_t axis, std::int64_t x, std::vector<float>& packed) {
    const RowAt at = origin(machine, view);
    const std::int64_t ks = space_.step(view.offset, 0), xs = space_.step(view.offset, axis);
    if (machine.observer != nullptr) note_operand(machine, view, at, x, ks, xs);
    if (view.dtype == Dtype::float32 && lane_spans_ == 1) {
      const float* data = reinterpret_cast<const float*>(at.at);
      if (xs == 4 && ks % 4 == 0 && ks >= 4 * x) return {data, ks / 4, false};
      if (ks == 4 && xs % 4 == 0 && xs >= 4 * k_) return {data, xs / 4, true};
    }
    packed.resize(static_cast<std::size_t>(k_ * x));
    float* to = packed.data();
    each_lane([&](std::int64_t lane) {
      machine.rows.load_f32(view.dtype, at.at + lane * ks, xs, static_cast<std::size_t>(x), to);
      to += x;
    });
    return {packed.data(), x, false};
  }

  void note_operand(Machine& machine, const View& view, const RowAt& at, std::int64_t x, std::int64_t ks,
                    std::int64_t xs) const {
    each_lane([&](std::int64_t lane) {
      RowAt row = at;
      row.stride = xs;
      row.offset += lane * ks;
      machine.note_read(view, row, static_cast<std::size_t>(x));
    });
  }

  /// Calls f(lane, counted from the first one) for the lanes that the mask leaves.
  template <class F>
  void each_lane(F f) const {
    for (int s = 0; s < lane_spans_; ++s) {
      const Span& span = lanes_[static_cast<std::size_t>(s)];
      for (std::int64_t lane = span.lo; lane < span.hi; ++lane) f(lane - lanes_[0].lo);
    }
  }

  void multiply(const Operand2& a, const Operand2& b, float* c, std::int64_t ldc, float beta) const {
    const auto k = static_cast<int>(k_), m = static_cast<int>(m_), n = static_cast<int>(n_);
    // a holds the stationary operand as (K, M): its plain form is BLAS's transposed one.
    cblas_sgemm(CblasRowMajor, a.transposed ? CblasNoTrans : CblasTrans, b.transposed ? CblasTrans : CblasNoTrans, m, n,
                k, 1.0f, a.data, static_cast<int>(a.leading), b.data, static_cast<int>(b.leading), beta, c,
                static_cast<int>(ldc));
  }

  /// Whether the destination was written since its alloc.
  State state_of(const Machine& machine, const RowAt& to) const {
    if (to.tile->written.empty()) return State::written;
    std::uint64_t have = 0;
    each(machine, to, [&](std::int64_t, std::uint64_t first, std::uint64_t count) {
      have += count_bits(to.tile->written, first, count);
    });
    if (have == 0) return State::virgin;
    const std::uint64_t all = static_cast<std::uint64_t>(m_ * n_ * dst_.item / granule(machine));
    return have == all ? State::written : State::mixed;
  }
  std::int64_t granule(const Machine& machine) const {
    return static_cast<std::int64_t>(machine.storages[dst_.root].granule);
  }

  /// Calls f(element number, first bit, bits) for runs of the destination.
  template <class F>
  void each(const Machine& machine, const RowAt& to, F f) const {
    const std::int64_t m = m_, n = n_, row = space_.step(dst_.offset, 1), column = space_.step(dst_.offset, 2);
    const std::int64_t g = granule(machine);
    for (std::int64_t i = 0; i < m; ++i) {
      const std::int64_t start = to.offset + i * row;
      if (column == dst_.item || n == 1) {
        f(i * n, static_cast<std::uint64_t>(start / g), static_cast<std::uint64_t>(n * dst_.item / g));
      } else {
        for (std::int64_t j = 0; j < n; ++j) {
          f(i * n + j, static_cast<std::uint64_t>((start + j * column) / g), static_cast<std::uint64_t>(dst_.item / g));
        }
      }
    }
  }

  void scatter(Machine& machine, const RowAt& to, State state) {
    const std::int64_t m = m_, n = n_, row = space_.step(dst_.offset, 1), column = space_.step(dst_.offset, 2);
    const std::int64_t g = granule(machine);
    for (std::int64_t i = 0; i < m; ++i) {
      float* product = product_.data() + i * n;
      for (std::int64_t j = 0; j < n && state != State::virgin; ++j) {
        const std::int64_t offset = to.offset + i * row + j * column;
        if (state == State::mixed && !test_bit(to.tile->written, static_cast<std::uint64_t>(offset / g))) continue;
        float old = 0;
        machine.rows.load_f32(dst_.dtype, to.tile->data + offset, 0, 1, &old);
        product[j] += old;
      }
      machine.rows.store_f32(dst_.dtype, to.at + i * row, column, static_cast<std::size_t>(n), product,
                             machine.poison.int_byte);
    }
  }

  Space space_;
  View dst_, stationary_, moving_;
  bool accumulate_;
  Space::Spans lanes_;  ///< of K, that the mask leaves
  int lane_spans_ = 0;
  std::int64_t k_ = 0, m_ = 0, n_ = 0;  ///< of the box at work
  std::vector<float> packed_a_, packed_b_, product_;
};

}  // namespace

std::unique_ptr<Exec> lower(const Matmul& matmul, const Lowering& lowering) {
  return std::make_unique<MatmulExec>(matmul, lowering);
}

}  // namespace nkigrid::nkisim
