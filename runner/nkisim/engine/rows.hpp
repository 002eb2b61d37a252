#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runner/nkisim/numbers/numbers.hpp"

/// The inner loops of the engine: each works on one row of at most kChunk values in L1. Internal to the room.
namespace nkigrid::nkisim {

inline constexpr std::size_t kChunk = 512;  ///< values a row buffer holds
inline constexpr std::size_t kLanes = 16;   ///< partial results of a fold

template <class T>
struct Operand {
  const T* data = nullptr;
  bool scalar = false;  ///< one value for the whole row
};

/// One instruction set's loops. Every set gives the same bits: no contraction, the same order of operations.
struct RowKernels {
  /// out[j] = fn(operands...[j]); `out` may be one of the operands.
  void (*apply_f32)(Fn fn, const Operand<float>* operands, std::size_t n, float* out);
  void (*apply_i32)(Fn fn, const Operand<std::int32_t>* operands, std::size_t n, std::int32_t* out);
  /// Reads n elements that lie `stride` bytes apart.
  void (*load_f32)(Dtype dtype, const std::byte* from, std::int64_t stride, std::size_t n, float* out);
  void (*load_i32)(Dtype dtype, const std::byte* from, std::int64_t stride, std::size_t n, std::int32_t* out);
  /// Casts and writes: to nearest even; float to integer saturates and NaN becomes bytes of `int_poison`; int32 wraps.
  void (*store_f32)(Dtype dtype, std::byte* to, std::int64_t stride, std::size_t n, const float* from,
                    std::uint8_t int_poison);
  void (*store_i32)(Dtype dtype, std::byte* to, std::int64_t stride, std::size_t n, const std::int32_t* from);
  /// lanes[(first + j) % 16] = fn(lanes[..], values[j]); sums of floats are kept in double, so a long row loses
  /// nothing.
  void (*fold_f32)(Fn fn, double* lanes, const float* values, std::size_t n, std::size_t first);
  void (*fold_i32)(Fn fn, std::int32_t* lanes, const std::int32_t* values, std::size_t n, std::size_t first);
  /// All lanes as one value; they hold nothing of use afterwards.
  float (*join_f32)(Fn fn, double* lanes);
  std::int32_t (*join_i32)(Fn fn, std::int32_t* lanes);
  /// What the lanes of a fold begin with: fn(identity, x) is x.
  float (*identity_f32)(Fn fn);
  std::int32_t (*identity_i32)(Fn fn);
};

extern const RowKernels kGenericRows;
extern const RowKernels kAvx2Rows;
extern const RowKernels kAvx512Rows;
/// The sets that this processor runs, the best last.
std::span<const RowKernels* const> runnable_rows() noexcept;
inline const RowKernels& row_kernels() noexcept { return *runnable_rows().back(); }

template <class T>
struct Rows;  // names the float and the int32 kernels alike
template <>
struct Rows<float> {
  using Lane = double;
  static void apply(const RowKernels& k, Fn fn, const Operand<float>* o, std::size_t n, float* out) {
    k.apply_f32(fn, o, n, out);
  }
  static void load(const RowKernels& k, Dtype d, const std::byte* p, std::int64_t s, std::size_t n, float* out) {
    k.load_f32(d, p, s, n, out);
  }
  static void store(const RowKernels& k, Dtype d, std::byte* p, std::int64_t s, std::size_t n, const float* v,
                    std::uint8_t poison) {
    k.store_f32(d, p, s, n, v, poison);
  }
  static void fold(const RowKernels& k, Fn fn, double* lanes, const float* v, std::size_t n, std::size_t first) {
    k.fold_f32(fn, lanes, v, n, first);
  }
  static float join(const RowKernels& k, Fn fn, double* lanes) { return k.join_f32(fn, lanes); }
  static float identity(const RowKernels& k, Fn fn) { return k.identity_f32(fn); }
};
template <>
struct Rows<std::int32_t> {
  using Int = std::int32_t;
  using Lane = Int;
  static void apply(const RowKernels& k, Fn fn, const Operand<Int>* o, std::size_t n, Int* out) {
    k.apply_i32(fn, o, n, out);
  }
  static void load(const RowKernels& k, Dtype d, const std::byte* p, std::int64_t s, std::size_t n, Int* out) {
    k.load_i32(d, p, s, n, out);
  }
  static void store(const RowKernels& k, Dtype d, std::byte* p, std::int64_t s, std::size_t n, const Int* v,
                    std::uint8_t) {
    k.store_i32(d, p, s, n, v);
  }
  static void fold(const RowKernels& k, Fn fn, Int* lanes, const Int* v, std::size_t n, std::size_t first) {
    k.fold_i32(fn, lanes, v, n, first);
  }
  static Int join(const RowKernels& k, Fn fn, Int* lanes) { return k.join_i32(fn, lanes); }
  static Int identity(const RowKernels& k, Fn fn) { return k.identity_i32(fn); }
};

}  // namespace nkigrid::nkisim
