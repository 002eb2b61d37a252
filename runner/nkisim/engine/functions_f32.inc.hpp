// Included inside an unnamed namespace, once an instruction set. The functions of numbers.def in float32 work.

// NaN wins, as poison must.
template <class N>
inline N maximum_of(N a, N b) {
  return a > b || a != a ? a : b;
}
template <class N>
inline N minimum_of(N a, N b) {
  return a < b || a != a ? a : b;
}
/// A function of doubles as one of floats: rounded once.
template <double (*kFunction)(double)>
inline float rounded(float a) {
  return static_cast<float>(kFunction(static_cast<double>(a)));
}
// What the vector forms hold for; the rest is the C library's, an element at a time. Without && the tests are vector
// code too.
inline bool is_finite(float a) { return __builtin_fabsf(a) <= std::numeric_limits<float>::max(); }
inline bool is_small_angle(float a) { return __builtin_fabsf(a) <= kLargestAngle; }
inline bool is_small_quotient(float a, float b) {
  return bool((__builtin_fabsf(a) <= __builtin_fabsf(b) * kLargestQuotient) & (b != 0.0f) & is_finite(b));
}
/// A square is left out: it is a product, rounded as one.
inline bool is_plain_power(float a, float b) {
  return bool((a != 0.0f) & is_finite(a) & is_finite(b) & (b != 2.0f) & ((a > 0.0f) | (__builtin_truncf(b) == b)));
}
inline float power_f(float a, float b) {
  return static_cast<float>(power_d(static_cast<double>(a), static_cast<double>(b)));
}
inline float power_rare(float a, float b) {
  return b == 2.0f ? a * a : static_cast<float>(std::pow(static_cast<double>(a), static_cast<double>(b)));
}
inline void power_row(const Operand<float>* o, std::size_t n, float* out) {
  if (o[1].scalar && *o[1].data == 2.0f) return unary(o[0], n, out, [](float a) { return a * a; });
  binary_within(o, n, out, is_plain_power, power_f, power_rare);
}
inline float remainder_f(float a, float b) {
  return static_cast<float>(remainder_d(static_cast<double>(a), static_cast<double>(b)));
}
/// The remainder r of a by b, with the divisor's sign.
inline float with_sign_of_divisor(float r, float b) {
  if (r == 0.0f) return __builtin_copysignf(0.0f, b);
  return (r < 0.0f) != (b < 0.0f) ? r + b : r;
}

inline float truth(bool v) { return v ? 1.0f : 0.0f; }

/// The functions that fold, over N, which is float or double: calls use(f, the value that a fold begins with).
template <class N, class Use>
inline void with_foldable_f32(Fn fn, Use use) {
  constexpr N kInfinity = std::numeric_limits<N>::infinity();
  switch (fn) {
    case Fn::add:
      return use([](N a, N b) { return a + b; }, N(0));
    case Fn::multiply:
      return use([](N a, N b) { return a * b; }, N(1));
    case Fn::maximum:
      return use([](N a, N b) { return maximum_of(a, b); }, -kInfinity);
    case Fn::minimum:
      return use([](N a, N b) { return minimum_of(a, b); }, kInfinity);
    case Fn::logical_and:
      return use([](N a, N b) { return N((a != N(0)) & (b != N(0))); }, N(1));
    case Fn::logical_or:
      return use([](N a, N b) { return N((a != N(0)) | (b != N(0))); }, N(0));
    case Fn::logical_xor:
      return use([](N a, N b) { return N((a != N(0)) != (b != N(0))); }, N(0));
    default:
      break;  // validate() folds by no other
  }
}

/// Flattened: a function that is not inlined would work an element at a time.
[[gnu::flatten]] void apply_f32(Fn fn, const Operand<float>* o, std::size_t n, float* out) {
  switch (fn) {
    case Fn::add:
    case Fn::multiply:
    case Fn::maximum:
    case Fn::minimum:
    case Fn::logical_and:
    case Fn::logical_or:
    case Fn::logical_xor:
      return with_foldable_f32<float>(fn, [&](auto f, float) { binary(o, n, out, f); });
    case Fn::subtract:
      return binary(o, n, out, [](float a, float b) { return a - b; });
    case Fn::divide:
      return binary(o, n, out, [](float a, float b) { return a / b; });
    case Fn::power:
      return power_row(o, n, out);
    case Fn::mod:
      return binary_within(
          o, n, out, is_small_quotient, [](float a, float b) { return with_sign_of_divisor(remainder_f(a, b), b); },
          [](float a, float b) { return with_sign_of_divisor(std::fmod(a, b), b); });
    case Fn::fmod:
      return binary_within(o, n, out, is_small_quotient, remainder_f, [](float a, float b) { return std::fmod(a, b); });
    case Fn::equal:
      return binary(o, n, out, [](float a, float b) { return truth(a == b); });
    case Fn::not_equal:
      return binary(o, n, out, [](float a, float b) { return truth(a != b); });
    case Fn::greater:
      return binary(o, n, out, [](float a, float b) { return truth(a > b); });
    case Fn::greater_equal:
      return binary(o, n, out, [](float a, float b) { return truth(a >= b); });
    case Fn::less:
      return binary(o, n, out, [](float a, float b) { return truth(a < b); });
    case Fn::less_equal:
      return binary(o, n, out, [](float a, float b) { return truth(a <= b); });
    case Fn::copy:
      return unary(o[0], n, out, [](float a) { return a; });
    case Fn::abs:
      return unary(o[0], n, out, [](float a) { return __builtin_fabsf(a); });
    case Fn::negative:
      return unary(o[0], n, out, [](float a) { return -a; });
    case Fn::sign:
      return unary(o[0], n, out, [](float a) { return a > 0.0f ? 1.0f : (a < 0.0f ? -1.0f : a); });
    case Fn::trunc:
      return unary(o[0], n, out, [](float a) { return __builtin_truncf(a); });
    case Fn::floor:
      return unary(o[0], n, out, [](float a) { return __builtin_floorf(a); });
    case Fn::ceil:
      return unary(o[0], n, out, [](float a) { return __builtin_ceilf(a); });
    case Fn::exp:
      return unary(o[0], n, out, rounded<exp_d>);
    case Fn::log:
      return unary(o[0], n, out, rounded<log_d>);
    case Fn::sqrt:
      return unary(o[0], n, out, [](float a) { return __builtin_sqrtf(a); });
    case Fn::rsqrt:
      return unary(o[0], n, out, rounded<rsqrt_d>);
    case Fn::reciprocal:
      return unary(o[0], n, out, [](float a) { return 1.0f / a; });
    case Fn::square:
      return unary(o[0], n, out, [](float a) { return a * a; });
    case Fn::sin:
      return unary_within(o[0], n, out, is_small_angle, rounded<sin_d>, [](float a) { return std::sin(a); });
    case Fn::cos:
      return unary_within(o[0], n, out, is_small_angle, rounded<cos_d>, [](float a) { return std::cos(a); });
    case Fn::tan:
      return unary_within(o[0], n, out, is_small_angle, rounded<tan_d>, [](float a) { return std::tan(a); });
    case Fn::arctan:
      return unary(o[0], n, out, rounded<arctan_d>);
    case Fn::tanh:
      return unary(o[0], n, out, rounded<tanh_d>);
    case Fn::sigmoid:
      return unary(o[0], n, out, rounded<sigmoid_d>);
    case Fn::relu:
      return unary(o[0], n, out, [](float a) { return a > 0.0f || a != a ? a : 0.0f; });
    case Fn::gelu:
      return unary(o[0], n, out, rounded<gelu_d>);
    case Fn::gelu_dx:
      return unary(o[0], n, out, rounded<gelu_dx_d>);
    case Fn::gelu_apprx_tanh:
      return unary(o[0], n, out, rounded<gelu_tanh_d>);
    case Fn::gelu_apprx_sigmoid:
      return unary(o[0], n, out, rounded<gelu_sigmoid_d>);
    case Fn::silu:
      return unary(o[0], n, out, rounded<silu_d>);
    case Fn::silu_dx:
      return unary(o[0], n, out, rounded<silu_dx_d>);
    case Fn::erf:
      return unary(o[0], n, out, rounded<erf_d>);
    case Fn::erf_dx:
      return unary(o[0], n, out, rounded<erf_dx_d>);
    case Fn::softplus:
      return unary(o[0], n, out, rounded<softplus_d>);
    case Fn::mish:
      return unary(o[0], n, out, rounded<mish_d>);
    case Fn::logical_not:
      return unary(o[0], n, out, [](float a) { return truth(a == 0.0f); });
    case Fn::select:
      return select_row(o, n, out);
    case Fn::bitwise_and:
    case Fn::bitwise_or:
    case Fn::bitwise_xor:
    case Fn::shift_left:
    case Fn::shift_right:
    case Fn::invert:
      break;  // validate() keeps these in integer work
  }
}

[[gnu::flatten]] void fold_f32(Fn fn, double* lanes, const float* v, std::size_t n, std::size_t first) {
  with_foldable_f32<double>(fn, [&](auto f, double) { fold_row(lanes, v, n, first, f); });
}
float join_f32(Fn fn, double* lanes) {
  with_foldable_f32<double>(fn, [&](auto f, double) { join_lanes(lanes, f); });
  return static_cast<float>(lanes[0]);
}
float identity_f32(Fn fn) {
  float value = 0;
  with_foldable_f32<float>(fn, [&](auto, float begin) { value = begin; });
  return value;
}
