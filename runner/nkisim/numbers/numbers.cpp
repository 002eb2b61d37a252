#include "runner/nkisim/numbers/numbers.hpp"

#include <array>

namespace nkigrid::nkisim {
namespace {

// The words of numbers.def.
constexpr bool yes = true, no = false;
enum class WorksIn { float32, any, exact, int32 };

struct Function {
  std::string_view name;
  int arity = 0;
  WorksIn work = WorksIn::float32;
  bool folds = false;
};
constexpr auto kFunctions = [] {
  std::array<Function, kFns> all{};  // a number beyond the count of lines does not compile: there is a gap
#define FN(number, name, arity, group, work, folds, ...) all[number] = {#name, arity, WorksIn::work, folds};
#include "runner/nkisim/numbers/numbers.def"
  return all;
}();

struct Element {
  std::string_view name;
  std::size_t bytes = 0;
  char kind = 0;
};
constexpr auto kElements = [] {
  std::array<Element, kDtypes> all{};
#define DTYPE(number, enumerator, name, bytes, kind, bits) all[number] = {#name, bytes, *#kind};
#include "runner/nkisim/numbers/numbers.def"
  return all;
}();

constexpr auto kSpecialNames = [] {
  std::array<std::string_view, kSpecials> all{};
#define SPECIAL(number, instr, name, ...) all[number] = #name;
#define RESERVED_SPECIAL(number, name) all[number] = #name;
#include "runner/nkisim/numbers/numbers.def"
  return all;
}();

constexpr auto kForms = [] {
  constexpr bool own = false, any = true;
  std::array<InstrForm, kInstrs> all{};
#define INSTR(number, name, unit, operation, steps, lanes, ...) \
  all[number] = {Unit::unit, NodeTag::operation, steps, lanes};
#include "runner/nkisim/numbers/numbers.def"
  return all;
}();

const Function& function_of(Fn fn) { return kFunctions[static_cast<std::size_t>(fn)]; }
const Element& element_of(Dtype dtype) { return kElements[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t size_of(Dtype dtype) noexcept { return element_of(dtype).bytes; }
std::string_view to_string(Dtype dtype) noexcept { return element_of(dtype).name; }
bool is_float(Dtype dtype) noexcept { return element_of(dtype).kind == 'f'; }

std::string_view to_string(Fn fn) noexcept { return function_of(fn).name; }
int arity(Fn fn) noexcept { return function_of(fn).arity; }
bool is_foldable(Fn fn) noexcept { return function_of(fn).folds; }
bool exists_in(Fn fn, Work work) noexcept {
  const WorksIn works = function_of(fn).work;
  return work == Work::int32 ? works != WorksIn::float32 : works != WorksIn::int32;
}

Unit unit_of(Instr instr) noexcept { return form_of(instr).unit; }

const InstrForm& form_of(Instr instr) noexcept { return kForms[static_cast<std::size_t>(instr)]; }

std::string_view to_string(Instr instr) noexcept {
  switch (instr) {
#define INSTR(number, name, ...) \
  case Instr::name:              \
    return #name;
#include "runner/nkisim/numbers/numbers.def"
  }
  return "?";
}

std::string_view to_string(NodeTag tag) noexcept {
  switch (tag) {
#define NODE(number, name) \
  case NodeTag::name:      \
    return #name;
#include "runner/nkisim/numbers/numbers.def"
  }
  return "?";
}

std::string_view to_string(Special kind) noexcept { return kSpecialNames[static_cast<std::size_t>(kind)]; }

bool is_engine(int number) noexcept {
  switch (number) {
#define ENGINE(known, name) case known:
#include "runner/nkisim/numbers/numbers.def"
    return true;
    default:
      return false;
  }
}

}  // namespace nkigrid::nkisim
