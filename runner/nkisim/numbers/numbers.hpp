#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// The numbers of the program form as types; numbers.def is their one list, docs/formats/program.md their meaning.
namespace nkigrid::nkisim {

enum class Dtype : std::uint8_t {
#define DTYPE(number, enumerator, ...) enumerator = number,
#include "runner/nkisim/numbers/numbers.def"
};
inline constexpr int kDtypes = 0
#define DTYPE(...) +1
#include "runner/nkisim/numbers/numbers.def"
    ;
std::size_t size_of(Dtype dtype) noexcept;         ///< bytes of an element
std::string_view to_string(Dtype dtype) noexcept;  ///< numpy's names where there is one
bool is_float(Dtype dtype) noexcept;               ///< float8 to float32

enum class Work : std::uint8_t {
#define WORK(number, name) name = number,
#include "runner/nkisim/numbers/numbers.def"
};
inline constexpr int kWorks = 0
#define WORK(...) +1
#include "runner/nkisim/numbers/numbers.def"
    ;

/// Functions of steps, folds and accumulations.
enum class Fn : std::uint8_t {
#define FN(number, name, ...) name = number,
#include "runner/nkisim/numbers/numbers.def"
};
inline constexpr int kFns = 0
#define FN(...) +1
#include "runner/nkisim/numbers/numbers.def"
    ;
std::string_view to_string(Fn fn) noexcept;
int arity(Fn fn) noexcept;
bool exists_in(Fn fn, Work work) noexcept;  ///< a step of such work may name it (raw as float32: raw work has no steps)
bool is_foldable(Fn fn) noexcept;           ///< may be a fold's or an accumulation's function

/// Instructions as the cost model knows them (docs/decisions/estimate.md).
enum class Instr : std::uint8_t {
#define INSTR(number, name, ...) name = number,
#include "runner/nkisim/numbers/numbers.def"
};
inline constexpr int kInstrs = 0
#define INSTR(...) +1
#include "runner/nkisim/numbers/numbers.def"
    ;
/// What an instruction keeps busy; numbers.def says what the words mean.
enum class Unit : std::uint8_t { none, dma, tensor, scalar, vector, gpsimd, any, vector_or_gpsimd, tensor_or_vector };
Unit unit_of(Instr instr) noexcept;
std::string_view to_string(Instr instr) noexcept;

enum class Special : std::uint8_t {
#define SPECIAL(number, instr, name, ...) name = number,
#define RESERVED_SPECIAL(number, name) name = number,
#include "runner/nkisim/numbers/numbers.def"
};
inline constexpr int kSpecials = 0
#define SPECIAL(...) +1
#define RESERVED_SPECIAL(...) +1
#include "runner/nkisim/numbers/numbers.def"
    ;
std::string_view to_string(Special kind) noexcept;

enum class Engine : std::uint8_t {
#define ENGINE(number, name) name = number,
#include "runner/nkisim/numbers/numbers.def"
};
bool is_engine(int number) noexcept;  ///< the numbers have a gap

enum class BufferKind : std::uint8_t {
#define BUFFER(number, name) name = number,
#include "runner/nkisim/numbers/numbers.def"
};
inline constexpr int kBufferKinds = 0
#define BUFFER(...) +1
#include "runner/nkisim/numbers/numbers.def"
    ;

enum class AtomKind : std::uint8_t {
#define ATOM(number, name) name = number,
#include "runner/nkisim/numbers/numbers.def"
};
inline constexpr int kAtomKinds = 0
#define ATOM(...) +1
#include "runner/nkisim/numbers/numbers.def"
    ;

enum class ConditionKind : std::uint8_t {
#define CONDITION(number, name) name = number,
#include "runner/nkisim/numbers/numbers.def"
};
inline constexpr int kConditionKinds = 0
#define CONDITION(...) +1
#include "runner/nkisim/numbers/numbers.def"
    ;

enum class SourceKind : std::uint8_t {
#define SOURCE(number, name) name = number,
#include "runner/nkisim/numbers/numbers.def"
};
inline constexpr int kSourceKinds = 0
#define SOURCE(...) +1
#include "runner/nkisim/numbers/numbers.def"
    ;

enum class NodeTag : std::uint8_t {
#define NODE(number, name) name = number,
#include "runner/nkisim/numbers/numbers.def"
};
std::string_view to_string(NodeTag tag) noexcept;
inline constexpr int kNodeTags = 0
#define NODE(...) +1
#include "runner/nkisim/numbers/numbers.def"
    ;

/// On which operations an instruction's name may stand.
struct InstrForm {
  Unit unit = Unit::none;
  NodeTag operation = NodeTag::map;
  std::size_t most_steps = 0;
  bool any_lane = false;  ///< it moves values from partition to partition
};
const InstrForm& form_of(Instr instr) noexcept;

}  // namespace nkigrid::nkisim
