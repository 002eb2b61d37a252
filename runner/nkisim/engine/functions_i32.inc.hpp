// Included inside an unnamed namespace, once an instruction set. The functions of numbers.def in int32 work: wraps.

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

/// The functions that fold: calls use(f, the value that a fold begins with).
template <class Use>
inline void with_foldable_i32(Fn fn, Use use) {
  switch (fn) {
    case Fn::add:
      return use([](Int a, Int b) { return wrap(raw(a) + raw(b)); }, 0);
    case Fn::multiply:
      return use([](Int a, Int b) { return wrap(raw(a) * raw(b)); }, 1);
    case Fn::maximum:
      return use([](Int a, Int b) { return a > b ? a : b; }, std::numeric_limits<Int>::min());
    case Fn::minimum:
      return use([](Int a, Int b) { return a < b ? a : b; }, std::numeric_limits<Int>::max());
    case Fn::bitwise_and:
      return use([](Int a, Int b) { return a & b; }, -1);
    case Fn::bitwise_or:
      return use([](Int a, Int b) { return a | b; }, 0);
    case Fn::bitwise_xor:
      return use([](Int a, Int b) { return a ^ b; }, 0);
    case Fn::logical_and:
      return use([](Int a, Int b) { return Int((a != 0) & (b != 0)); }, 1);
    case Fn::logical_or:
      return use([](Int a, Int b) { return Int((a | b) != 0); }, 0);
    case Fn::logical_xor:
      return use([](Int a, Int b) { return Int((a != 0) != (b != 0)); }, 0);
    default:
      break;  // validate() folds by no other
  }
}

[[gnu::flatten]] void apply_i32(Fn fn, const Operand<Int>* o, std::size_t n, Int* out) {
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
      return with_foldable_i32(fn, [&](auto f, Int) { binary(o, n, out, f); });
    case Fn::subtract:
      return binary(o, n, out, [](Int a, Int b) { return wrap(raw(a) - raw(b)); });
    case Fn::divide:
      return binary(o, n, out, divide_i);
    case Fn::power:
      return binary(o, n, out, power_i);
    case Fn::mod:
      return binary(o, n, out, mod_i);
    case Fn::fmod:
      return binary(o, n, out, fmod_i);
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

void fold_i32(Fn fn, Int* lanes, const Int* v, std::size_t n, std::size_t first) {
  with_foldable_i32(fn, [&](auto f, Int) { fold_row(lanes, v, n, first, f); });
}
Int join_i32(Fn fn, Int* lanes) {
  with_foldable_i32(fn, [&](auto f, Int) { join_lanes(lanes, f); });
  return lanes[0];
}
Int identity_i32(Fn fn) {
  Int value = 0;
  with_foldable_i32(fn, [&](auto, Int begin) { value = begin; });
  return value;
}
