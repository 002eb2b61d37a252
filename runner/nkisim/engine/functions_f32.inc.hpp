// Included inside an unnamed namespace, once an instruction set. The functions of numbers.def in float32 work.

// NaN wins, as poison must.
inline float maximum_f(float a, float b) { return a > b || a != a ? a : b; }
inline float minimum_f(float a, float b) { return a < b || a != a ? a : b; }
/// The remainder with the divisor's sign.
inline float mod_f(float a, float b) {
  const float r = std::fmod(a, b);
  if (r == 0.0f) return std::copysign(0.0f, b);
  return (r < 0.0f) != (b < 0.0f) ? r + b : r;
}

inline float truth(bool v) { return v ? 1.0f : 0.0f; }

/// The functions that fold: calls use(f, the value that a fold begins with).
template <class Use>
inline void with_foldable_f32(Fn fn, Use use) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (fn) {
    case Fn::add:
      return use([](float a, float b) { return a + b; }, 0.0f);
    case Fn::multiply:
      return use([](float a, float b) { return a * b; }, 1.0f);
    case Fn::maximum:
      return use([](float a, float b) { return maximum_f(a, b); }, -kInfinity);
    case Fn::minimum:
      return use([](float a, float b) { return minimum_f(a, b); }, kInfinity);
    case Fn::logical_and:
      return use([](float a, float b) { return truth((a != 0.0f) & (b != 0.0f)); }, 1.0f);
    case Fn::logical_or:
      return use([](float a, float b) { return truth((a != 0.0f) | (b != 0.0f)); }, 0.0f);
    case Fn::logical_xor:
      return use([](float a, float b) { return truth((a != 0.0f) != (b != 0.0f)); }, 0.0f);
    default:
      break;  // validate() folds by no other
  }
}

void apply_f32(Fn fn, const Operand<float>* o, std::size_t n, float* out) {
  switch (fn) {
    case Fn::add:
    case Fn::multiply:
    case Fn::maximum:
    case Fn::minimum:
    case Fn::logical_and:
    case Fn::logical_or:
    case Fn::logical_xor:
      return with_foldable_f32(fn, [&](auto f, float) { binary(o, n, out, f); });
    case Fn::subtract:
      return binary(o, n, out, [](float a, float b) { return a - b; });
    case Fn::divide:
      return binary(o, n, out, [](float a, float b) { return a / b; });
    case Fn::power:
      return binary(o, n, out, [](float a, float b) { return b == 2.0f ? a * a : std::pow(a, b); });
    case Fn::mod:
      return binary(o, n, out, mod_f);
    case Fn::fmod:
      return binary(o, n, out, [](float a, float b) { return std::fmod(a, b); });
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

void fold_f32(Fn fn, float* lanes, const float* v, std::size_t n, std::size_t first) {
  with_foldable_f32(fn, [&](auto f, float) { fold_row(lanes, v, n, first, f); });
}
float identity_f32(Fn fn) {
  float value = 0;
  with_foldable_f32(fn, [&](auto, float begin) { value = begin; });
  return value;
}
