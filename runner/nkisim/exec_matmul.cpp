#include <cblas.h>

#include <algorithm>

#include "runner/nkisim/exec.hpp"

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
    Space::Spans spans;
    if (space_.spans(machine.values.data(), 0, spans) == 0) return;  // its conditions have no slots: all or nothing
    check_box(machine, dst_);
    check_box(machine, stationary_);
    check_box(machine, moving_);
    const Operand2 a = pack(machine, stationary_, 1, packed_a_), b = pack(machine, moving_, 2, packed_b_);
    const RowAt to = origin(machine, dst_);
    const std::int64_t m = space_.extent(1), n = space_.extent(2), row = space_.step(dst_.offset, 1), column = space_.step(dst_.offset, 2);
    const State state = accumulate_ ? state_of(machine, to) : State::virgin;
    const bool straight = dst_.dtype == Dtype::float32 && (column == 4 || n == 1) && (m == 1 || (row >= 4 * n && row % 4 == 0));
    if (straight && state != State::mixed) {
      multiply(a, b, reinterpret_cast<float*>(to.at), m == 1 ? n : row / 4, state == State::written ? 1.0f : 0.0f);
    } else {
      product_.resize(static_cast<std::size_t>(m * n));
      multiply(a, b, product_.data(), n, 0.0f);
      scatter(machine, to, state);
    }
    for (std::int64_t i = 0; i < m; ++i) {
      machine.mark(dst_.root, *to.tile, to.offset + i * row, n == 1 ? dst_.item : column, dst_.item, static_cast<std::size_t>(n));
    }
  }

 private:
  enum class State { virgin, written, mixed };

  /// Checks indices that no interval proved at the corners of the box.
  void check_box(Machine& machine, const View& view) {
    RowAt unused;
    for (const std::int64_t i : {std::int64_t{0}, space_.extent(0) - 1}) {
      for (const std::int64_t j : {std::int64_t{0}, space_.extent(1) - 1}) {
        if (view.checks.empty()) return;
        space_.move(machine.values, 0, i);
        space_.move(machine.values, 1, j);
        machine.resolve(space_, view, 2, 0, space_.extent(2), unused);
        space_.begin(machine.atoms.data(), machine.values);
      }
    }
  }
  RowAt origin(Machine& machine, const View& view) {
    RowAt at;
    machine.resolve(space_, view, 2, 0, 1, at);
    return at;
  }

  /// A (K, X) operand: as it lies when one of its strides is the element, else gathered.
  Operand2 pack(Machine& machine, const View& view, std::size_t axis, std::vector<float>& packed) {
    const RowAt at = origin(machine, view);
    const std::int64_t k = space_.extent(0), x = space_.extent(axis), ks = space_.step(view.offset, 0), xs = space_.step(view.offset, axis);
    if (machine.watch != nullptr) note_operand(machine, view, at, x, ks, xs);
    if (view.dtype == Dtype::float32) {
      const float* data = reinterpret_cast<const float*>(at.at);
      if (xs == 4 && ks % 4 == 0 && ks >= 4 * x) return {data, ks / 4, false};
      if (ks == 4 && xs % 4 == 0 && xs >= 4 * k) return {data, xs / 4, true};
    }
    packed.resize(static_cast<std::size_t>(k * x));
    for (std::int64_t i = 0; i < k; ++i) {
      machine.rows.load_f32(view.dtype, at.at + i * ks, xs, static_cast<std::size_t>(x), packed.data() + i * x);
    }
    return {packed.data(), x, false};
  }

  void note_operand(Machine& machine, const View& view, RowAt row, std::int64_t x, std::int64_t ks, std::int64_t xs) const {
    row.stride = xs;
    for (std::int64_t i = 0; i < space_.extent(0); ++i, row.offset += ks) machine.note_read(view, row, static_cast<std::size_t>(x));
  }

  void multiply(const Operand2& a, const Operand2& b, float* c, std::int64_t ldc, float beta) const {
    const auto k = static_cast<int>(space_.extent(0)), m = static_cast<int>(space_.extent(1)), n = static_cast<int>(space_.extent(2));
    // a holds the stationary operand as (K, M): its plain form is BLAS's transposed one.
    cblas_sgemm(CblasRowMajor, a.transposed ? CblasNoTrans : CblasTrans, b.transposed ? CblasTrans : CblasNoTrans, m, n, k, 1.0f, a.data,
                static_cast<int>(a.leading), b.data, static_cast<int>(b.leading), beta, c, static_cast<int>(ldc));
  }

  /// Whether the destination was written since its alloc.
  State state_of(const Machine& machine, const RowAt& to) const {
    if (to.tile->written.empty()) return State::written;
    std::uint64_t have = 0;
    each(machine, to, [&](std::int64_t, std::uint64_t first, std::uint64_t count) { have += count_bits(to.tile->written, first, count); });
    if (have == 0) return State::virgin;
    const std::uint64_t all = static_cast<std::uint64_t>(space_.extent(1) * space_.extent(2) * dst_.item / granule(machine));
    return have == all ? State::written : State::mixed;
  }
  std::int64_t granule(const Machine& machine) const { return static_cast<std::int64_t>(machine.storages[dst_.root].granule); }

  /// Calls f(element number, first bit, bits) for runs of the destination.
  template <class F>
  void each(const Machine& machine, const RowAt& to, F f) const {
    const std::int64_t m = space_.extent(1), n = space_.extent(2), row = space_.step(dst_.offset, 1), column = space_.step(dst_.offset, 2);
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
    const std::int64_t m = space_.extent(1), n = space_.extent(2), row = space_.step(dst_.offset, 1), column = space_.step(dst_.offset, 2);
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
      machine.rows.store_f32(dst_.dtype, to.at + i * row, column, static_cast<std::size_t>(n), product, machine.poison.int_byte);
    }
  }

  Space space_;
  View dst_, stationary_, moving_;
  bool accumulate_;
  std::vector<float> packed_a_, packed_b_, product_;
};

}  // namespace

std::unique_ptr<Exec> lower(const Matmul& matmul, const Lowering& lowering) { return std::make_unique<MatmulExec>(matmul, lowering); }

}  // namespace nkigrid::nkisim
