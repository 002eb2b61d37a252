#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "runner/nkisim/engine/rows.hpp"

// Known bit patterns: IEEE 754 for float16; the OCP and ml_dtypes tables for bfloat16 and float8 (e4m3 with infinities,
// bias 7, largest 240).
namespace nkigrid::nkisim {
namespace {

template <class Bits>
Bits stored(const RowKernels& kernels, Dtype dtype, float value) {
  Bits bits = 0;
  kernels.store_f32(dtype, reinterpret_cast<std::byte*>(&bits), sizeof bits, 1, &value, 0xa5);
  return bits;
}
template <class Bits>
float loaded(const RowKernels& kernels, Dtype dtype, Bits bits) {
  float value = 0;
  kernels.load_f32(dtype, reinterpret_cast<const std::byte*>(&bits), sizeof bits, 1, &value);
  return value;
}

const std::span<const RowKernels* const> kAll = runnable_rows();

TEST(Rounding, Bfloat16IsToNearestEven) {
  for (const RowKernels* k : kAll) {
    const auto bits = [&](std::uint32_t f) {
      return stored<std::uint16_t>(*k, Dtype::bfloat16, std::bit_cast<float>(f));
    };
    EXPECT_EQ(bits(0x3f808000), 0x3f80);  // a tie: down to even
    EXPECT_EQ(bits(0x3f818000), 0x3f82);  // a tie: up to even
    EXPECT_EQ(bits(0x3f808001), 0x3f81);
    EXPECT_EQ(bits(0x7f7fffff), 0x7f80);  // the largest float32 rounds to infinity
    EXPECT_EQ(bits(0x7fc0dead), 0x7fc0);  // poison stays NaN
    EXPECT_EQ(bits(0x7f800001), 0x7fc0);  // a signalling NaN does not become infinity
    EXPECT_EQ(bits(0x80000000), 0x8000);
  }
}

TEST(Rounding, Float16HasDenormalsAndInfinity) {
  for (const RowKernels* k : kAll) {
    const auto bits = [&](double v) { return stored<std::uint16_t>(*k, Dtype::float16, static_cast<float>(v)); };
    EXPECT_EQ(bits(1.0), 0x3c00);
    EXPECT_EQ(bits(-2.0), 0xc000);
    EXPECT_EQ(bits(65504), 0x7bff);
    EXPECT_EQ(bits(65519.99), 0x7bff);
    EXPECT_EQ(bits(65520), 0x7c00);
    EXPECT_EQ(bits(std::ldexp(1, -24)), 0x0001);
    EXPECT_EQ(bits(std::ldexp(1, -25)), 0x0000);  // a tie: to even
    EXPECT_EQ(bits(std::ldexp(3, -25)), 0x0002);  // a tie: to even
    EXPECT_EQ(bits(std::ldexp(1, -14)), 0x0400);
    EXPECT_EQ(bits(1 + std::ldexp(1, -11)), 0x3c00);
    EXPECT_EQ(bits(1 + std::ldexp(3, -11)), 0x3c02);
    EXPECT_EQ(loaded<std::uint16_t>(*k, Dtype::float16, 0x0001), std::ldexp(1.0f, -24));
    EXPECT_EQ(loaded<std::uint16_t>(*k, Dtype::float16, 0xfc00), -std::numeric_limits<float>::infinity());
  }
}

TEST(Rounding, Float8FormatsEndWhereTheyShould) {
  for (const RowKernels* k : kAll) {
    const auto e4 = [&](double v) {
      return static_cast<int>(stored<std::uint8_t>(*k, Dtype::float8_e4m3, static_cast<float>(v)));
    };
    const auto e5 = [&](double v) {
      return static_cast<int>(stored<std::uint8_t>(*k, Dtype::float8_e5m2, static_cast<float>(v)));
    };
    EXPECT_EQ(e4(1), 0x38);
    EXPECT_EQ(e4(240), 0x77);
    EXPECT_EQ(e4(247.9), 0x77);
    EXPECT_EQ(e4(248), 0x78);
    EXPECT_EQ(e4(-0.001953125), 0x81);  // 2^-9, the smallest
    EXPECT_EQ(e5(1), 0x3c);
    EXPECT_EQ(e5(57344), 0x7b);
    EXPECT_EQ(e5(61440), 0x7c);
    EXPECT_EQ(e5(std::ldexp(1, -16)), 0x01);
    EXPECT_TRUE(std::isnan(loaded<std::uint8_t>(*k, Dtype::float8_e4m3, 0x7f)));
    EXPECT_TRUE(std::isnan(loaded<std::uint8_t>(*k, Dtype::float8_e5m2, 0x7f)));
  }
}

TEST(Rounding, EveryNarrowNumberSurvivesItsRoundTrip) {
  for (const RowKernels* k : kAll) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
        const float value = loaded<std::uint16_t>(*k, dtype, static_cast<std::uint16_t>(bits));
        if (std::isnan(value)) continue;
        ASSERT_EQ(stored<std::uint16_t>(*k, dtype, value), bits);
      }
      if (bits > 0xff) continue;
      for (const Dtype dtype : {Dtype::float8_e4m3, Dtype::float8_e5m2}) {
        const float value = loaded<std::uint8_t>(*k, dtype, static_cast<std::uint8_t>(bits));
        if (std::isnan(value)) continue;
        ASSERT_EQ(stored<std::uint8_t>(*k, dtype, value), bits);
      }
    }
  }
}

TEST(Rounding, Tfloat32KeepsTenBits) {
  for (const RowKernels* k : kAll) {
    const auto bits = [&](std::uint32_t f) {
      return stored<std::uint32_t>(*k, Dtype::tfloat32, std::bit_cast<float>(f));
    };
    EXPECT_EQ(bits(0x3f801000), 0x3f800000U);
    EXPECT_EQ(bits(0x3f803000), 0x3f804000U);
    EXPECT_EQ(bits(0x3f801001), 0x3f802000U);
  }
}

TEST(Rounding, IntegersSaturateAndNanBecomesThePoison) {
  for (const RowKernels* k : kAll) {
    const auto u8 = [&](float v) { return static_cast<int>(stored<std::uint8_t>(*k, Dtype::uint8, v)); };
    EXPECT_EQ(u8(2.5f), 2);
    EXPECT_EQ(u8(3.5f), 4);
    EXPECT_EQ(u8(-1), 0);
    EXPECT_EQ(u8(1e9f), 255);
    EXPECT_EQ(u8(std::numeric_limits<float>::quiet_NaN()), 0xa5);
    EXPECT_EQ(static_cast<std::int8_t>(stored<std::uint8_t>(*k, Dtype::int8, -200)), -128);
    EXPECT_EQ(stored<std::uint32_t>(*k, Dtype::int32, 3e9f), 0x7fffffffU);
    EXPECT_EQ(stored<std::uint32_t>(*k, Dtype::int32, -1.5f), 0xfffffffeU);
    EXPECT_EQ(stored<std::uint32_t>(*k, Dtype::uint32, 4e9f), 4'000'000'000U);
    EXPECT_EQ(stored<std::uint32_t>(*k, Dtype::int32, std::numeric_limits<float>::quiet_NaN()), 0xa5a5a5a5U);
    EXPECT_EQ(stored<std::uint8_t>(*k, Dtype::boolean, -3), 1);
  }
}

TEST(Rounding, InstructionSetsGiveTheSameBits) {
  std::vector<float> in;
  for (std::uint32_t k = 0; k < 5000; ++k) in.push_back(std::bit_cast<float>(k * 858'993u));
  for (int fn = 0; fn < kFns; ++fn) {
    const Fn f = static_cast<Fn>(fn);
    if (!exists_in(f, Work::float32) || arity(f) == 3) continue;
    std::vector<float> a(in.size()), b(in.size());
    const Operand<float> operands[2] = {{in.data(), false}, {in.data() + 1, false}};
    kGenericRows.apply_f32(f, operands, in.size() - 1, a.data());
    for (const RowKernels* kernels : kAll) {
      kernels->apply_f32(f, operands, in.size() - 1, b.data());
      for (std::size_t k = 0; k < in.size(); ++k) {
        if (std::isnan(a[k]) && std::isnan(b[k])) continue;  // which NaN of two wins is the compiler's
        ASSERT_EQ(std::bit_cast<std::uint32_t>(a[k]), std::bit_cast<std::uint32_t>(b[k])) << fn << " at " << in[k];
      }
    }
  }
}

}  // namespace
}  // namespace nkigrid::nkisim
