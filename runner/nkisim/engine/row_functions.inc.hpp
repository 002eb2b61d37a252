// Included inside an unnamed namespace, once an instruction set. The functions of map and fold over rows.

template <class T, class F>
inline void unary(const Operand<T>& a, std::size_t n, T* out, F f) {
  const T* x = a.data;
  if (a.scalar) {
    const T value = f(*x);
    for (std::size_t j = 0; j < n; ++j) out[j] = value;
    return;
  }
  // In-place is fine: element j depends on element j alone.
#pragma GCC ivdep
  for (std::size_t j = 0; j < n; ++j) out[j] = f(x[j]);
}

template <class T, class F>
inline void binary(const Operand<T>* o, std::size_t n, T* out, F f) {
  const T *x = o[0].data, *y = o[1].data;
  if (o[0].scalar && o[1].scalar) {
    const T value = f(*x, *y);
    for (std::size_t j = 0; j < n; ++j) out[j] = value;
  } else if (o[1].scalar) {
    const T b = *y;
#pragma GCC ivdep
    for (std::size_t j = 0; j < n; ++j) out[j] = f(x[j], b);
  } else if (o[0].scalar) {
    const T a = *x;
#pragma GCC ivdep
    for (std::size_t j = 0; j < n; ++j) out[j] = f(a, y[j]);
  } else {
#pragma GCC ivdep
    for (std::size_t j = 0; j < n; ++j) out[j] = f(x[j], y[j]);
  }
}

template <class T>
inline void select_row(const Operand<T>* o, std::size_t n, T* out) {
  const std::size_t sa = o[0].scalar ? 0 : 1, sb = o[1].scalar ? 0 : 1, sc = o[2].scalar ? 0 : 1;
  const T *a = o[0].data, *b = o[1].data, *c = o[2].data;
#pragma GCC ivdep
  for (std::size_t j = 0; j < n; ++j) out[j] = a[j * sa] != T(0) ? b[j * sb] : c[j * sc];
}

// NaN wins, as poison must.
inline float maximum_f(float a, float b) { return a > b || a != a ? a : b; }
inline float minimum_f(float a, float b) { return a < b || a != a ? a : b; }
/// The remainder with the divisor's sign.
inline float mod_f(float a, float b) {
  const float r = std::fmod(a, b);
  if (r == 0.0f) return std::copysign(0.0f, b);
  return (r < 0.0f) != (b < 0.0f) ? r + b : r;
}

void apply_f32(Fn fn, const Operand<float>* o, std::size_t n, float* out) {
  const auto truth = [](bool v) { return v ? 1.0f : 0.0f; };
  switch (fn) {
    case Fn::add:
      return binary(o, n, out, [](float a, float b) { return a + b; });
    case Fn::subtract:
      return binary(o, n, out, [](float a, float b) { return a - b; });
    case Fn::multiply:
      return binary(o, n, out, [](float a, float b) { return a * b; });
    case Fn::divide:
      return binary(o, n, out, [](float a, float b) { return a / b; });
    case Fn::power:
      return binary(o, n, out, [](float a, float b) { return b == 2.0f ? a * a : std::pow(a, b); });
    case Fn::maximum:
      return binary(o, n, out, maximum_f);
    case Fn::minimum:
      return binary(o, n, out, minimum_f);
    case Fn::mod:
      return binary(o, n, out, mod_f);
    case Fn::fmod:
      return binary(o, n, out, [](float a, float b) { return std::fmod(a, b); });
    case Fn::equal:
      return binary(o, n, out, [=](float a, float b) { return truth(a == b); });
    case Fn::not_equal:
      return binary(o, n, out, [=](float a, float b) { return truth(a != b); });
    case Fn::greater:
      return binary(o, n, out, [=](float a, float b) { return truth(a > b); });
    case Fn::greater_equal:
      return binary(o, n, out, [=](float a, float b) { return truth(a >= b); });
    case Fn::less:
      return binary(o, n, out, [=](float a, float b) { return truth(a < b); });
    case Fn::less_equal:
      return binary(o, n, out, [=](float a, float b) { return truth(a <= b); });
    case Fn::logical_and:
      return binary(o, n, out, [=](float a, float b) { return truth((a != 0.0f) & (b != 0.0f)); });
    case Fn::logical_or:
      return binary(o, n, out, [=](float a, float b) { return truth((a != 0.0f) | (b != 0.0f)); });
    case Fn::logical_xor:
      return binary(o, n, out, [=](float a, float b) { return truth((a != 0.0f) != (b != 0.0f)); });
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
      return unary(o[0], n, out, exp_f);
    case Fn::log:
      return unary(o[0], n, out, log_f);
    case Fn::sqrt:
      return unary(o[0], n, out, [](float a) { return __builtin_sqrtf(a); });
    case Fn::rsqrt:
      return unary(o[0], n, out, [](float a) { return 1.0f / __builtin_sqrtf(a); });
    case Fn::reciprocal:
      return unary(o[0], n, out, [](float a) { return 1.0f / a; });
    case Fn::square:
      return unary(o[0], n, out, [](float a) { return a * a; });
    case Fn::sin:
      return unary(o[0], n, out, [](float a) { return std::sin(a); });
    case Fn::cos:
      return unary(o[0], n, out, [](float a) { return std::cos(a); });
    case Fn::tan:
      return unary(o[0], n, out, [](float a) { return std::tan(a); });
    case Fn::arctan:
      return unary(o[0], n, out, [](float a) { return std::atan(a); });
    case Fn::tanh:
      return unary(o[0], n, out, tanh_f);
    case Fn::sigmoid:
      return unary(o[0], n, out, sigmoid_f);
    case Fn::relu:
      return unary(o[0], n, out, [](float a) { return a > 0.0f || a != a ? a : 0.0f; });
    case Fn::gelu:
      return unary(o[0], n, out, gelu_f);
    case Fn::gelu_dx:
      return unary(o[0], n, out, gelu_dx_f);
    case Fn::gelu_apprx_tanh:
      return unary(o[0], n, out, gelu_tanh_f);
    case Fn::gelu_apprx_sigmoid:
      return unary(o[0], n, out, [](float a) { return a * sigmoid_f(1.702f * a); });
    case Fn::silu:
      return unary(o[0], n, out, silu_f);
    case Fn::silu_dx:
      return unary(o[0], n, out, silu_dx_f);
    case Fn::erf:
      return unary(o[0], n, out, erf_f);
    case Fn::erf_dx:
      return unary(o[0], n, out, [](float a) { return 1.128379167f * exp_f(-a * a); });
    case Fn::softplus:
      return unary(o[0], n, out, softplus_f);
    case Fn::mish:
      return unary(o[0], n, out, [](float a) { return a * tanh_f(softplus_f(a)); });
    case Fn::logical_not:
      return unary(o[0], n, out, [=](float a) { return truth(a == 0.0f); });
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

using Int = std::int32_t;
inline Int wrap(std::uint32_t v) { return static_cast<Int>(v); }
inline std::uint32_t raw(Int v) { return static_cast<std::uint32_t>(v); }
inline Int divide_i(Int a, Int b) { return b == 0 ? 0 : (b == -1 ? wrap(0U - raw(a)) : a / b); }
inline Int fmod_i(Int a, Int b) { return b == 0 || b == -1 ? 0 : a % b; }
inline Int mod_i(Int a, Int b) {
  const Int r = fmod_i(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline Int power_i(Int a, Int b) {
  if (b < 0) return a == 1 ? 1 : (a == -1 ? (b % 2 != 0 ? -1 : 1) : 0);
  std::uint32_t result = 1, base = raw(a);
  for (std::uint32_t e = raw(b); e != 0; e >>= 1, base *= base) {
    if ((e & 1U) != 0) result *= base;
  }
  return wrap(result);
}

void apply_i32(Fn fn, const Operand<Int>* o, std::size_t n, Int* out) {
  switch (fn) {
    case Fn::add:
      return binary(o, n, out, [](Int a, Int b) { return wrap(raw(a) + raw(b)); });
    case Fn::subtract:
      return binary(o, n, out, [](Int a, Int b) { return wrap(raw(a) - raw(b)); });
    case Fn::multiply:
      return binary(o, n, out, [](Int a, Int b) { return wrap(raw(a) * raw(b)); });
    case Fn::divide:
      return binary(o, n, out, divide_i);
    case Fn::power:
      return binary(o, n, out, power_i);
    case Fn::maximum:
      return binary(o, n, out, [](Int a, Int b) { return a > b ? a : b; });
    case Fn::minimum:
      return binary(o, n, out, [](Int a, Int b) { return a < b ? a : b; });
    case Fn::mod:
      return binary(o, n, out, mod_i);
    case Fn::fmod:
      return binary(o, n, out, fmod_i);
    case Fn::bitwise_and:
      return binary(o, n, out, [](Int a, Int b) { return a & b; });
    case Fn::bitwise_or:
      return binary(o, n, out, [](Int a, Int b) { return a | b; });
    case Fn::bitwise_xor:
      return binary(o, n, out, [](Int a, Int b) { return a ^ b; });
    case Fn::shift_left:
      return binary(o, n, out, [](Int a, Int b) { return raw(b) > 31 ? 0 : wrap(raw(a) << (raw(b) & 31U)); });
    case Fn::shift_right:
      return binary(o, n, out, [](Int a, Int b) { return raw(b) > 31 ? 0 : wrap(raw(a) >> (raw(b) & 31U)); });
    case Fn::equal:
      return binary(o, n, out, [](Int a, Int b) { return Int(a == b); });
    case Fn::not_equal:
      return binary(o, n, out, [](Int a, Int b) { return Int(a != b); });
    case Fn::greater:
      return binary(o, n, out, [](Int a, Int b) { return Int(a > b); });
    case Fn::greater_equal:
      return binary(o, n, out, [](Int a, Int b) { return Int(a >= b); });
    case Fn::less:
      return binary(o, n, out, [](Int a, Int b) { return Int(a < b); });
    case Fn::less_equal:
      return binary(o, n, out, [](Int a, Int b) { return Int(a <= b); });
    case Fn::logical_and:
      return binary(o, n, out, [](Int a, Int b) { return Int((a != 0) & (b != 0)); });
    case Fn::logical_or:
      return binary(o, n, out, [](Int a, Int b) { return Int((a | b) != 0); });
    case Fn::logical_xor:
      return binary(o, n, out, [](Int a, Int b) { return Int((a != 0) != (b != 0)); });
    case Fn::copy:
    case Fn::trunc:
    case Fn::floor:
    case Fn::ceil:
      return unary(o[0], n, out, [](Int a) { return a; });
    case Fn::abs:
      return unary(o[0], n, out, [](Int a) { return a < 0 ? wrap(0U - raw(a)) : a; });
    case Fn::negative:
      return unary(o[0], n, out, [](Int a) { return wrap(0U - raw(a)); });
    case Fn::sign:
      return unary(o[0], n, out, [](Int a) { return Int(a > 0) - Int(a < 0); });
    case Fn::square:
      return unary(o[0], n, out, [](Int a) { return wrap(raw(a) * raw(a)); });
    case Fn::relu:
      return unary(o[0], n, out, [](Int a) { return a > 0 ? a : 0; });
    case Fn::invert:
      return unary(o[0], n, out, [](Int a) { return ~a; });
    case Fn::logical_not:
      return unary(o[0], n, out, [](Int a) { return Int(a == 0); });
    case Fn::select:
      return select_row(o, n, out);
    default:
      break;  // validate() keeps the rest in float work
  }
}

template <class T, class F>
inline void fold_row(T* lanes, const T* v, std::size_t n, std::size_t first, F f) {
  std::size_t j = 0;
  for (; (first + j) % kLanes != 0 && j < n; ++j) lanes[(first + j) % kLanes] = f(lanes[(first + j) % kLanes], v[j]);
  T local[kLanes];
  for (std::size_t k = 0; k < kLanes; ++k) local[k] = lanes[k];
  for (; j + kLanes <= n; j += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) local[k] = f(local[k], v[j + k]);
  }
  for (std::size_t k = 0; j < n; ++j, ++k) local[k] = f(local[k], v[j]);
  for (std::size_t k = 0; k < kLanes; ++k) lanes[k] = local[k];
}

void fold_f32(Fn fn, float* lanes, const float* v, std::size_t n, std::size_t first) {
  switch (fn) {
    case Fn::add:
      return fold_row(lanes, v, n, first, [](float a, float b) { return a + b; });
    case Fn::multiply:
      return fold_row(lanes, v, n, first, [](float a, float b) { return a * b; });
    case Fn::maximum:
      return fold_row(lanes, v, n, first, maximum_f);
    case Fn::minimum:
      return fold_row(lanes, v, n, first, minimum_f);
    case Fn::logical_and:
      return fold_row(lanes, v, n, first, [](float a, float b) { return (a != 0.0f) & (b != 0.0f) ? 1.0f : 0.0f; });
    case Fn::logical_or:
      return fold_row(lanes, v, n, first, [](float a, float b) { return (a != 0.0f) | (b != 0.0f) ? 1.0f : 0.0f; });
    case Fn::logical_xor:
      return fold_row(lanes, v, n, first, [](float a, float b) { return (a != 0.0f) != (b != 0.0f) ? 1.0f : 0.0f; });
    default:
      break;
  }
}

void fold_i32(Fn fn, Int* lanes, const Int* v, std::size_t n, std::size_t first) {
  const auto with = [fn](Int a, Int b) {
    const Operand<Int> o[2] = {{&a, true}, {&b, true}};
    Int out = 0;
    apply_i32(fn, o, 1, &out);
    return out;
  };
  switch (fn) {
    case Fn::add:
      return fold_row(lanes, v, n, first, [](Int a, Int b) { return wrap(raw(a) + raw(b)); });
    case Fn::maximum:
      return fold_row(lanes, v, n, first, [](Int a, Int b) { return a > b ? a : b; });
    case Fn::minimum:
      return fold_row(lanes, v, n, first, [](Int a, Int b) { return a < b ? a : b; });
    default:
      return fold_row(lanes, v, n, first, with);
  }
}
