// Included inside an unnamed namespace, once an instruction set. Casts between float32 or int32 and the storage types.

/// A small IEEE format with E exponent and M mantissa bits, infinities and NaNs.
template <int E, int M>
struct Small {
  static constexpr int kBias = (1 << (E - 1)) - 1;
  static constexpr std::uint32_t kInfinity = ((1U << E) - 1) << M;

  static std::uint32_t encode(float value) {
    const std::uint32_t bits = float_to_bits(value);
    const std::uint32_t sign = (bits >> 31) << (E + M), a = bits & 0x7fffffffU;
    const std::uint32_t shifted = a - (static_cast<std::uint32_t>(127 - kBias) << 23);
    std::uint32_t normal = (shifted + (1U << (22 - M)) - 1 + ((shifted >> (23 - M)) & 1U)) >> (23 - M);
    normal = normal > kInfinity ? kInfinity : normal;
    // Adding this power of two leaves exactly the denormal's bits in the low mantissa, rounded to nearest even.
    constexpr std::uint32_t kMagic = static_cast<std::uint32_t>(127 + 1 - kBias - M + 23) << 23;
    const std::uint32_t denormal = float_to_bits(bits_to_float(a) + bits_to_float(kMagic)) - kMagic;
    const std::uint32_t nan = kInfinity | (1U << (M - 1)) | ((a >> (23 - M)) & ((1U << M) - 1));
    const std::uint32_t finite = a < (static_cast<std::uint32_t>(127 + 1 - kBias) << 23) ? denormal : normal;
    const std::uint32_t overflow = a >= (static_cast<std::uint32_t>(127 + kBias + 1) << 23) ? kInfinity : finite;
    return sign | (a > 0x7f800000U ? nan : overflow);
  }
  static float decode(std::uint32_t small) {
    const std::uint32_t sign = (small >> (E + M)) << 31, a = small & ((1U << (E + M)) - 1);
    const std::uint32_t scale = static_cast<std::uint32_t>(127 + 127 - kBias) << 23;
    const std::uint32_t finite = float_to_bits(bits_to_float(a << (23 - M)) * bits_to_float(scale));
    return bits_to_float(sign | (a >= kInfinity ? 0x7f800000U | (a << (23 - M)) : finite));
  }
};

/// float32 cut to a 10-bit mantissa (tfloat32) or, shifted down, to 7 (bfloat16); to nearest even, NaN kept.
template <int kDropped>
inline std::uint32_t round_mantissa(float value) {
  const std::uint32_t bits = float_to_bits(value);
  constexpr std::uint32_t kMask = (1U << kDropped) - 1;
  const std::uint32_t rounded = (bits + (kMask >> 1) + ((bits >> kDropped) & 1U)) & ~kMask;
  const std::uint32_t nan = (bits | 0x00400000U) & ~kMask;
  return (bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded;
}

template <class I>
inline I saturate(float value, I poison) {
  constexpr double kLow = std::numeric_limits<I>::min(), kHigh = std::numeric_limits<I>::max();
  double d = static_cast<double>(value);
  d = d < kLow ? kLow : d;
  d = d > kHigh ? kHigh : d;
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
  d = (d + kRound) - kRound;
  return value != value ? poison : static_cast<I>(static_cast<std::int64_t>(value != value ? 0.0 : d));
}

// --- loads: Bits is the stored type, convert() makes the value. Contiguous rows get their own loop.
template <class Bits, class Out, class Convert>
inline void load_each(const std::byte* from, std::int64_t stride, std::size_t n, Out* out, Convert convert) {
  if (stride == static_cast<std::int64_t>(sizeof(Bits))) {
    const Bits* p = reinterpret_cast<const Bits*>(from);
    for (std::size_t j = 0; j < n; ++j) out[j] = convert(p[j]);
    return;
  }
  for (std::size_t j = 0; j < n; ++j) {
    out[j] = convert(*reinterpret_cast<const Bits*>(from + static_cast<std::int64_t>(j) * stride));
  }
}
template <class Bits, class In, class Convert>
inline void store_each(std::byte* to, std::int64_t stride, std::size_t n, const In* from, Convert convert) {
  if (stride == static_cast<std::int64_t>(sizeof(Bits))) {
    Bits* p = reinterpret_cast<Bits*>(to);
    for (std::size_t j = 0; j < n; ++j) p[j] = convert(from[j]);
    return;
  }
  for (std::size_t j = 0; j < n; ++j) {
    *reinterpret_cast<Bits*>(to + static_cast<std::int64_t>(j) * stride) = convert(from[j]);
  }
}

void load_f32(Dtype dtype, const std::byte* p, std::int64_t s, std::size_t n, float* out) {
  const auto number = [](auto v) { return static_cast<float>(v); };
  switch (dtype) {
    case Dtype::float32:
    case Dtype::tfloat32:
      return load_each<float>(p, s, n, out, [](float v) { return v; });
    case Dtype::bfloat16:
      return load_each<std::uint16_t>(
          p, s, n, out, [](std::uint16_t v) { return bits_to_float(static_cast<std::uint32_t>(v) << 16); });
    case Dtype::float16:
      return load_each<std::uint16_t>(p, s, n, out, [](std::uint16_t v) { return Small<5, 10>::decode(v); });
    case Dtype::float8_e4m3:
      return load_each<std::uint8_t>(p, s, n, out, [](std::uint8_t v) { return Small<4, 3>::decode(v); });
    case Dtype::float8_e5m2:
      return load_each<std::uint8_t>(p, s, n, out, [](std::uint8_t v) { return Small<5, 2>::decode(v); });
    case Dtype::uint8:
      return load_each<std::uint8_t>(p, s, n, out, number);
    case Dtype::int8:
      return load_each<std::int8_t>(p, s, n, out, number);
    case Dtype::uint16:
      return load_each<std::uint16_t>(p, s, n, out, number);
    case Dtype::int16:
      return load_each<std::int16_t>(p, s, n, out, number);
    case Dtype::uint32:
      return load_each<std::uint32_t>(p, s, n, out, number);
    case Dtype::int32:
      return load_each<std::int32_t>(p, s, n, out, number);
    case Dtype::boolean:
      return load_each<std::uint8_t>(p, s, n, out, [](std::uint8_t v) { return v != 0 ? 1.0f : 0.0f; });
  }
}

void store_f32(Dtype dtype, std::byte* p, std::int64_t s, std::size_t n, const float* from, std::uint8_t poison) {
  const std::uint32_t poison32 = poison * 0x01010101U;
  switch (dtype) {
    case Dtype::float32:
      return store_each<float>(p, s, n, from, [](float v) { return v; });
    case Dtype::tfloat32:
      return store_each<std::uint32_t>(p, s, n, from, [](float v) { return round_mantissa<13>(v); });
    case Dtype::bfloat16:
      return store_each<std::uint16_t>(p, s, n, from,
                                       [](float v) { return static_cast<std::uint16_t>(round_mantissa<16>(v) >> 16); });
    case Dtype::float16:
      return store_each<std::uint16_t>(p, s, n, from,
                                       [](float v) { return static_cast<std::uint16_t>(Small<5, 10>::encode(v)); });
    case Dtype::float8_e4m3:
      return store_each<std::uint8_t>(p, s, n, from,
                                      [](float v) { return static_cast<std::uint8_t>(Small<4, 3>::encode(v)); });
    case Dtype::float8_e5m2:
      return store_each<std::uint8_t>(p, s, n, from,
                                      [](float v) { return static_cast<std::uint8_t>(Small<5, 2>::encode(v)); });
    case Dtype::uint8:
      return store_each<std::uint8_t>(p, s, n, from, [=](float v) { return saturate<std::uint8_t>(v, poison); });
    case Dtype::int8:
      return store_each<std::int8_t>(
          p, s, n, from, [=](float v) { return saturate<std::int8_t>(v, static_cast<std::int8_t>(poison)); });
    case Dtype::uint16:
      return store_each<std::uint16_t>(
          p, s, n, from, [=](float v) { return saturate<std::uint16_t>(v, static_cast<std::uint16_t>(poison32)); });
    case Dtype::int16:
      return store_each<std::int16_t>(
          p, s, n, from, [=](float v) { return saturate<std::int16_t>(v, static_cast<std::int16_t>(poison32)); });
    case Dtype::uint32:
      return store_each<std::uint32_t>(p, s, n, from, [=](float v) { return saturate<std::uint32_t>(v, poison32); });
    case Dtype::int32:
      return store_each<std::int32_t>(
          p, s, n, from, [=](float v) { return saturate<std::int32_t>(v, static_cast<std::int32_t>(poison32)); });
    case Dtype::boolean:
      return store_each<std::uint8_t>(p, s, n, from,
                                      [](float v) { return static_cast<std::uint8_t>(v != 0.0f ? 1 : 0); });
  }
}

void load_i32(Dtype dtype, const std::byte* p, std::int64_t s, std::size_t n, std::int32_t* out) {
  const auto number = [](auto v) { return static_cast<std::int32_t>(v); };
  switch (dtype) {
    case Dtype::uint8:
      return load_each<std::uint8_t>(p, s, n, out, number);
    case Dtype::int8:
      return load_each<std::int8_t>(p, s, n, out, number);
    case Dtype::uint16:
      return load_each<std::uint16_t>(p, s, n, out, number);
    case Dtype::int16:
      return load_each<std::int16_t>(p, s, n, out, number);
    case Dtype::uint32:
      return load_each<std::uint32_t>(p, s, n, out, number);
    case Dtype::int32:
      return load_each<std::int32_t>(p, s, n, out, number);
    case Dtype::boolean:
      return load_each<std::uint8_t>(p, s, n, out, [](std::uint8_t v) { return v != 0 ? 1 : 0; });
    default:  // a float source of integer work: to nearest even, saturated
      for (std::size_t j = 0; j < n; ++j) {
        float value = 0;
        load_f32(dtype, p + static_cast<std::int64_t>(j) * s, 0, 1, &value);
        out[j] = saturate<std::int32_t>(value, 0);
      }
  }
}

void store_i32(Dtype dtype, std::byte* p, std::int64_t s, std::size_t n, const std::int32_t* from) {
  switch (size_of(dtype)) {
    case 1:
      if (dtype == Dtype::boolean) {
        return store_each<std::uint8_t>(p, s, n, from,
                                        [](std::int32_t v) { return static_cast<std::uint8_t>(v != 0 ? 1 : 0); });
      }
      if (!is_float(dtype))
        return store_each<std::uint8_t>(p, s, n, from, [](std::int32_t v) { return static_cast<std::uint8_t>(v); });
      break;
    case 2:
      if (!is_float(dtype))
        return store_each<std::uint16_t>(p, s, n, from, [](std::int32_t v) { return static_cast<std::uint16_t>(v); });
      break;
    default:
      if (!is_float(dtype)) return store_each<std::int32_t>(p, s, n, from, [](std::int32_t v) { return v; });
  }
  for (std::size_t j = 0; j < n; ++j) {
    const float value = static_cast<float>(from[j]);
    store_f32(dtype, p + static_cast<std::int64_t>(j) * s, 0, 1, &value, 0);
  }
}
