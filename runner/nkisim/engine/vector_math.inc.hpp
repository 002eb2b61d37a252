// Included inside an unnamed namespace, once an instruction set: everything here has internal linkage on purpose.
// Branchless forms that the compiler turns into vector code. Errors are tested against double precision references.

inline float bits_to_float(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline std::uint32_t float_to_bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }

/// 2^n for n in [-126, 127].
inline float power_of_two(float n) {
  return bits_to_float(static_cast<std::uint32_t>(static_cast<std::int32_t>(n) + 127) << 23);
}

struct Reduced {
  float n, r;  // x = n ln 2 + r, |r| <= ln(2) / 2
};
inline Reduced reduce_exp(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding and taking it away rounds to an integer
  const float n = (x * 1.44269504f + kRound) - kRound;
  return {n, (x - n * 0.693145752f) - n * 1.42860677e-6f};
}
/// (e^r - 1) by its Taylor series, which is exact to float within |r| <= 0.35.
inline float expm1_small(float r) {
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  return p * r * r + r;
}
inline float exp_f(float x) {
  float c = x > 90.0f ? 90.0f : x;
  c = c < -105.0f ? -105.0f : c;
  const Reduced z = reduce_exp(c);
  const float half =
      static_cast<float>(static_cast<std::int32_t>(z.n) >> 1);  // two factors reach infinity and the denormals
  const float y = (1.0f + expm1_small(z.r)) * power_of_two(half) * power_of_two(z.n - half);
  return x != x ? x : y;
}
/// e^x - 1 for x <= 40.
inline float expm1_f(float x) {
  float c = x > 40.0f ? 40.0f : x;
  c = c < -40.0f ? -40.0f : c;
  const Reduced z = reduce_exp(c);
  const float scale = power_of_two(z.n);
  const float y = expm1_small(z.r) * scale + (scale - 1.0f);
  return x != x ? x : y;
}
/// 2 atanh(s), |s| <= 1/3.
inline float twice_atanh(float s) {
  const float q = s * s;
  float p = 2.0f / 17;
  p = p * q + 2.0f / 15;
  p = p * q + 2.0f / 13;
  p = p * q + 2.0f / 11;
  p = p * q + 2.0f / 9;
  p = p * q + 2.0f / 7;
  p = p * q + 2.0f / 5;
  p = p * q + 2.0f / 3;
  return p * q * s + 2.0f * s;
}
inline float log_f(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const std::uint32_t bits = float_to_bits(tiny ? x * 8388608.0f : x);
  const std::uint32_t shifted = bits - 0x3f3504f3U;  // splits at sqrt(1/2)
  const float e = static_cast<float>(static_cast<std::int32_t>(shifted) >> 23) - (tiny ? 23.0f : 0.0f);
  const float m = bits_to_float((shifted & 0x7fffffU) + 0x3f3504f3U);
  const float y = e * 0.693145752f + (e * 1.42860677e-6f + twice_atanh((m - 1.0f) / (m + 1.0f)));
  const float special = x == 0.0f ? -__builtin_inff() : (x > 0.0f ? x : __builtin_nanf(""));
  return (x > 0.0f && x < __builtin_inff()) ? y : (x != x ? x : special);
}
/// log(1 + u), u in [0, 1].
inline float log1p_unit(float u) { return twice_atanh(u / (2.0f + u)); }

inline float sigmoid_f(float x) { return 1.0f / (1.0f + exp_f(-x)); }
inline float tanh_f(float x) {
  const float a = __builtin_fabsf(x);
  const float e = expm1_f(2.0f * (a > 10.0f ? 10.0f : a));
  const float y = __builtin_copysignf(e / (e + 2.0f), x);
  return x != x ? x : y;
}
/// Least-squares Chebyshev fits made for this file: erf(a)/a in a^2 on [0, 1], -log(erfc(a)) on [1, 4].
inline float erf_f(float x) {
  const float a = __builtin_fabsf(x), s = a * a;
  float p = -9.673590284364764e-06f;
  p = p * s + 0.00011268253729213029f;
  p = p * s - 0.0008484396385028958f;
  p = p * s + 0.005221053492277861f;
  p = p * s - 0.026865437626838684f;
  p = p * s + 0.11283782869577408f;
  p = p * s - 0.37612637877464294f;
  p = p * s + 1.128379225730896f;
  const float t = a > 4.0f ? 4.0f : a;
  float q = 6.582861544757179e-08f;
  q = q * t - 3.095205556746805e-06f;
  q = q * t + 6.0068803577451035e-05f;
  q = q * t - 0.0006733376067131758f;
  q = q * t + 0.005021044984459877f;
  q = q * t - 0.026999497786164284f;
  q = q * t + 0.1109074205160141f;
  q = q * t + 0.6310888528823853f;
  q = q * t + 1.1306045055389404f;
  q = q * t - 0.0004005005757790059f;
  const float tail = 1.0f - exp_f(-q);
  const float y = a < 1.0f ? p * x : __builtin_copysignf(a > 4.0f ? 1.0f : tail, x);
  return x != x ? x : y;
}
inline float softplus_f(float x) {
  const float u = exp_f(-__builtin_fabsf(x));
  const float y = (x > 0.0f ? x : 0.0f) + log1p_unit(u);
  return x != x ? x : y;
}
inline float gelu_f(float x) { return 0.5f * x * (1.0f + erf_f(x * 0.707106781f)); }
inline float gelu_dx_f(float x) {
  return 0.5f * (1.0f + erf_f(x * 0.707106781f)) + x * 0.398942280f * exp_f(-0.5f * x * x);
}
inline float gelu_tanh_f(float x) { return 0.5f * x * (1.0f + tanh_f(0.797884561f * (x + 0.044715f * x * x * x))); }
inline float silu_f(float x) { return x * sigmoid_f(x); }
inline float silu_dx_f(float x) {
  const float s = sigmoid_f(x);
  return s * (1.0f + x * (1.0f - s));
}
