// Included inside an unnamed namespace, once an instruction set: everything here has internal linkage on purpose.
// Functions of one float are worked out in double and rounded once: within 1 ulp without a trick for each, and fast, as
// they are branchless forms that the compiler turns into vector code. Fused multiply-adds are written out and nothing
// else is contracted, so every instruction set gives the same bits: a fused one is rounded once wherever it is done.
// Errors are tested against the C library, speed by a floor for each function (tests/nkisim/functions_test.cpp).

inline float bits_to_float(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline std::uint32_t float_to_bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }
inline double bits_to_double(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }
inline std::uint64_t double_to_bits(double value) { return __builtin_bit_cast(std::uint64_t, value); }

constexpr double kEndless = std::numeric_limits<double>::infinity();
/// 1.5 * 2^52: adding it rounds to an integer, which then stands in the low bits; taking it away leaves the number.
constexpr double kRounder = 6755399441055744.0;

/// c0 + c1 x + c2 x^2 + ...
inline double polynomial(double, double c) { return c; }
template <class... More>
inline double polynomial(double x, double c, More... more) {
  return __builtin_fma(polynomial(x, more...), x, c);
}

struct Reduced {
  double r, scale;  // x = n ln 2 + r, |r| <= ln(2) / 2; 2^n
};
/// @param x within +-700
inline Reduced reduce_exp(double x) {
  const double rounded = __builtin_fma(x, 1.4426950408889634, kRounder);
  const double r = __builtin_fma(kRounder - rounded, 0.6931471805599453, x);
  return {r, bits_to_double((double_to_bits(rounded) << 52) + double_to_bits(1.0))};
}
/// (e^r - 1) / r by its Taylor series: within 3e-10 for |r| <= ln(2) / 2.
inline double expm1_ratio(double r) {
  return polynomial(r, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320);
}
inline double clamped(double x, double limit) {  // NaN stays
  const double high = x > limit ? limit : x;
  return high < -limit ? -limit : high;
}
inline double exp_d(double x) {
  const Reduced z = reduce_exp(clamped(x, 700));
  const double y = __builtin_fma(z.r * z.scale, expm1_ratio(z.r), z.scale);
  return x > 700 ? kEndless : (x < -700 ? 0.0 : y);
}
/// e^x - 1
inline double expm1_d(double x) {
  const Reduced z = reduce_exp(clamped(x, 700));
  return __builtin_fma(z.r * z.scale, expm1_ratio(z.r), z.scale - 1.0);
}
/// 2 atanh(s), |s| <= 1/3.
inline double twice_atanh(double s) {
  const double q = s * s;
  const double p = polynomial(q, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19);
  return __builtin_fma(p * q, s, 2.0 * s);
}
/// @param x a float or the product of a few: denormal doubles do not come here
inline double log_d(double x) {
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e00000000ULL, kFraction = 0x000fffffffffffffULL;
  const std::uint64_t shifted = double_to_bits(x) - kSqrtHalf;  // splits at sqrt(1/2)
  // The exponent as a number: its bits become the low ones of a double with a known exponent.
  const double e = bits_to_double((((shifted >> 52) ^ 0x800ULL) & 0xfffULL) | double_to_bits(0x1p52)) - (0x1p52 + 2048);
  const double m = bits_to_double((shifted & kFraction) + kSqrtHalf);
  const double y = __builtin_fma(e, 0.6931471805599453, twice_atanh((m - 1.0) / (m + 1.0)));
  const double special = x == 0.0 ? -kEndless : (x > 0.0 ? x : std::numeric_limits<double>::quiet_NaN());
  return x > 0.0 && x < kEndless ? y : (x != x ? x : special);
}

inline double rsqrt_d(double x) { return 1.0 / __builtin_sqrt(x); }
inline double sigmoid_d(double x) { return 1.0 / (1.0 + exp_d(-x)); }
inline double tanh_d(double x) {
  const double e = expm1_d(-2.0 * __builtin_fabs(x));
  return __builtin_copysign(-e / (e + 2.0), x);
}
inline double softplus_d(double x) {
  const double u = exp_d(-__builtin_fabs(x));
  return (x > 0.0 ? x : 0.0) + twice_atanh(u / (2.0 + u));
}
/// x tanh(softplus(x)), by u = e^x: tanh(log(1 + u)) = u (u + 2) / (u (u + 2) + 2).
inline double mish_d(double x) {
  const double u = exp_d(x > 40.0 ? 40.0 : x), n = u * (u + 2.0);
  return x * (n / (n + 2.0));
}

/// erfc(a), 0 <= a: t exp(-a^2 + p(t)), t = 1 / (1 + a / 2); p is a least-squares Chebyshev fit made for this file,
/// within 2e-10 for a <= 10, beyond which a float has no value but 0.
inline double erfc_positive(double a) {
  const double t = 1.0 / __builtin_fma(a, 0.5, 1.0);
  const double p =
      polynomial(t, -1.2655049706821473, 0.9997486143707526, 0.3789424680024561, 0.04685888978055744,
                 0.13567295215916836, -1.0742119034323, 2.6686346130243637, -5.764043407925412, 8.553262155410515,
                 -7.894992727887466, 4.406176074304295, -1.3770017240491408, 0.18645896710127743);
  return t * exp_d(__builtin_fma(-a, a, p));
}
inline double erf_d(double x) {
  const double a = __builtin_fabs(x), s = a * a;
  // erf(a) / a in a^2, fitted on [0, 1] as above: there 1 - erfc(a) would have lost digits
  const double near = polynomial(s, 1.1283791670946957, -0.3761263888987033, 0.11283791313516733, -0.026866133626699006,
                                 0.0052237850115064485, -0.000854267065993609, 0.00011956947924363881,
                                 -1.3911708112164248e-05, 1.0595293918504996e-06);
  return a < 1.0 ? near * x : __builtin_copysign(1.0 - erfc_positive(a), x);
}
/// The normal distribution below x, without loss where it is small.
inline double normal_d(double x) {
  const double half = 0.5 * erfc_positive(__builtin_fabs(x) * 0.7071067811865476);
  return x < 0.0 ? half : 1.0 - half;
}
inline double gelu_d(double x) { return x * normal_d(x); }
inline double gelu_dx_d(double x) { return normal_d(x) + x * 0.3989422804014327 * exp_d(-0.5 * x * x); }
/// x / 2 (1 + tanh(z)) is x sigmoid(2 z).
inline double gelu_tanh_d(double x) {
  return x * sigmoid_d(1.5957691216057308 * __builtin_fma(0.044715 * x * x, x, x));
}
inline double gelu_sigmoid_d(double x) { return x * sigmoid_d(1.702 * x); }
inline double silu_d(double x) { return x * sigmoid_d(x); }
inline double silu_dx_d(double x) {
  const double s = sigmoid_d(x);
  return s * __builtin_fma(x, 1.0 - s, 1.0);
}
inline double erf_dx_d(double x) { return 1.1283791670955126 * exp_d(-x * x); }

/// Angles up to here: n pi/2 is exact in the first part of pi/2, whose last 20 bits are 0.
constexpr float kLargestAngle = 1e5f;
struct Angle {
  double r;             // x = n pi/2 + r, |r| <= pi/4
  std::uint64_t steps;  // n, modulo 4
};
inline Angle reduce_angle(double x) {
  const double rounded = __builtin_fma(x, 0.6366197723675814, kRounder), minus_n = kRounder - rounded;
  const double r = __builtin_fma(minus_n, 6.077100506506192e-11, __builtin_fma(minus_n, 1.5707963267341256, x));
  return {r, double_to_bits(rounded) & 3U};
}
inline double sin_near(double r) {
  const double q = r * r;
  return __builtin_fma(polynomial(q, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800) * q, r, r);
}
inline double cos_near(double r) {
  return polynomial(r * r, 1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800);
}
inline double sin_of(const Angle& z) {
  const double y = (z.steps & 1U) != 0 ? cos_near(z.r) : sin_near(z.r);
  return (z.steps & 2U) != 0 ? -y : y;
}
inline double sin_d(double x) { return sin_of(reduce_angle(x)); }
inline double cos_d(double x) {
  const Angle z = reduce_angle(x);
  return sin_of({z.r, z.steps + 1});
}
inline double tan_d(double x) {
  const Angle z = reduce_angle(x);
  const double s = sin_near(z.r), c = cos_near(z.r);
  return (z.steps & 1U) != 0 ? -c / s : s / c;
}
inline double arctan_d(double x) {
  const double a = __builtin_fabs(x), t = a > 1.0 ? 1.0 / a : a;
  // atan(t) / t in t^2, fitted on [0, 1] as above, within 7e-11
  const double p = polynomial(t * t, 0.9999999999390119, -0.3333333151819948, 0.19999909957057221, -0.14283948421713943,
                              0.11092984791077695, -0.08979051065848864, 0.07242284193713522, -0.054215309457444426,
                              0.03413342435822624, -0.016055161758844274, 0.004827228283019461, -0.0006804973716307515);
  return __builtin_copysign(a > 1.0 ? __builtin_fma(-p, t, 1.5707963267948966) : p * t, x);
}

/// a^b for finite a != 0 and b, b whole where a < 0.
inline double power_d(double a, double b) {
  const double size = exp_d(b * log_d(__builtin_fabs(a)));
  const double half = b * 0.5, sign = bool((a < 0.0) & (__builtin_trunc(half) != half)) ? -1.0 : 1.0;
  return sign * size;
}

/// Quotients up to here are exact enough: the remainder that they leave is at most one divisor off, and exact.
constexpr float kLargestQuotient = 0x1p27f;
/// The remainder with the dividend's sign, for finite a, b != 0 and quotients up to kLargestQuotient.
inline double remainder_d(double a, double b) {
  const double size = __builtin_fabs(b), from = __builtin_fabs(a);
  double r = __builtin_fma(-__builtin_trunc(from / size), size, from);
  r = r < 0.0 ? r + size : r;
  r = r >= size ? r - size : r;
  return __builtin_copysign(r, a);
}
