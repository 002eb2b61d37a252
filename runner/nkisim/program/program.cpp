#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

std::size_t size_of(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::uint8:
    case Dtype::int8:
    case Dtype::float8_e4m3:
    case Dtype::float8_e5m2:
    case Dtype::boolean:
      return 1;
    case Dtype::uint16:
    case Dtype::int16:
    case Dtype::float16:
    case Dtype::bfloat16:
      return 2;
    case Dtype::uint32:
    case Dtype::int32:
    case Dtype::tfloat32:
    case Dtype::float32:
      return 4;
  }
  return 4;
}

bool is_float(Dtype dtype) noexcept { return dtype >= Dtype::float8_e4m3 && dtype <= Dtype::float32; }

std::string_view to_string(Dtype dtype) noexcept {
  constexpr std::string_view kNames[] = {"uint8",    "int8",        "uint16",      "int16",   "uint32",
                                         "int32",    "float8_e4m3", "float8_e5m2", "float16", "bfloat16",
                                         "tfloat32", "float32",     "bool"};
  return kNames[static_cast<std::size_t>(dtype)];
}

int arity(Fn fn) noexcept {
  if (fn == Fn::select) return 3;
  return fn <= Fn::logical_xor ? 2 : 1;
}

bool is_bitwise(Fn fn) noexcept { return (fn >= Fn::bitwise_and && fn <= Fn::shift_right) || fn == Fn::invert; }

bool is_foldable(Fn fn) noexcept {
  switch (fn) {
    case Fn::add:
    case Fn::multiply:
    case Fn::maximum:
    case Fn::minimum:
    case Fn::bitwise_and:
    case Fn::bitwise_or:
    case Fn::bitwise_xor:
    case Fn::logical_and:
    case Fn::logical_or:
    case Fn::logical_xor:
      return true;
    default:
      return false;
  }
}

std::size_t constant_bytes(const Program& program) noexcept {
  std::size_t total = 0;
  for (const Buffer& buffer : program.buffers) total += buffer.data.size();
  return total;
}

}  // namespace nkigrid::nkisim
