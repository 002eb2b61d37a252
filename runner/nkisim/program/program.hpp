#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The traced form of a kernel in memory; docs/formats/program.md says what every field means.
namespace nkigrid::nkisim {

enum class Dtype : std::uint8_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float8_e4m3,
  float8_e5m2,
  float16,
  bfloat16,
  tfloat32,
  float32,
  boolean
};
std::size_t size_of(Dtype dtype) noexcept;
std::string_view to_string(Dtype dtype) noexcept;  ///< numpy's names where there is one
bool is_float(Dtype dtype) noexcept;               ///< float8 to float32

/// Functions of map and fold steps. The number is the file's; only ever add at the end.
enum class Fn : std::uint8_t {
  // binary (arity 2)
  add,
  subtract,
  multiply,
  divide,
  power,
  maximum,
  minimum,
  mod,
  fmod,  // 0-8
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  shift_left,
  shift_right,  // 9-13 (work int32)
  equal,
  not_equal,
  greater,
  greater_equal,
  less,
  less_equal,
  logical_and,
  logical_or,
  logical_xor,  // 14-22
  // unary (arity 1)
  copy,
  abs,
  negative,
  sign,
  trunc,
  floor,
  ceil,
  exp,
  log,
  sqrt,
  rsqrt,
  reciprocal,
  square,  // 23-35
  sin,
  cos,
  tan,
  tanh,
  arctan,
  sigmoid,
  relu,
  gelu,
  gelu_dx,
  gelu_apprx_tanh,
  silu,
  silu_dx,  // 36-47
  erf,
  erf_dx,
  softplus,
  mish,
  invert,
  logical_not,  // 48-53
  // ternary (arity 3)
  select,             // 54: a != 0 ? b : c
  gelu_apprx_sigmoid  // 55 (unary)
};
inline constexpr int kFns = 56;
int arity(Fn fn) noexcept;
bool is_bitwise(Fn fn) noexcept;   ///< needs integer work
bool is_foldable(Fn fn) noexcept;  ///< may be a fold's or an accumulation's function

/// Instructions as the cost model knows them (docs/decisions/estimate.md). 0: part of the former instruction.
enum class Instr : std::uint8_t {
  part_of_former,
  load,
  store,
  load_transpose,
  dma_copy,
  dma_transpose,
  tensor_copy,
  memset,
  iota,
  affine_select,
  select,
  tensor_tensor,
  tensor_scalar,
  tensor_scalar_reduce,
  scalar_tensor_tensor,
  activation,
  activation_reduce,
  reciprocal,
  tensor_reduce,
  partition_reduce,
  partition_broadcast,
  matmul,
  transpose,
  scan,
  bn_stats,
  bn_aggr,
  max8,
  find_index8,
  match_replace8,
  stream_shuffle,
  local_gather,
  random,
  copy_predicated,
  print
};
inline constexpr int kInstrs = 34;

enum class Engine : std::uint8_t { unknown = 0, tensor = 1, scalar = 2, gpsimd = 3, vector = 5, dma = 6 };
enum class BufferKind : std::uint8_t { param, output, hbm, sbuf, psum, constant };
enum class Work : std::uint8_t { float32, int32, raw };
/// This version runs bn_stats, bn_aggr, max8, find_index8, match_replace8 and stream_shuffle; validate() refuses the
/// others by name.
enum class Special : std::uint8_t {
  bn_stats,
  bn_aggr,
  max8,
  find_index8,
  match_replace8,
  stream_shuffle,
  local_gather,
  random,
  print
};

struct Term {
  std::uint32_t atom = 0;
  std::int64_t coefficient = 0;
};
struct Affine {
  std::int64_t constant = 0;
  std::vector<Term> terms;
};

struct Atom {
  enum class Kind : std::uint8_t { loop, program_id, floor_div, mod } kind = Kind::loop;
  std::uint32_t id = 0;  ///< loop id or axis
  Affine operand;        ///< floor_div, mod
  std::int64_t divisor = 1;
};

/// aff + sum(slots[k] * point[k])
struct Index {
  Affine base;
  std::vector<std::int64_t> slots;  ///< {R}
};

struct Access {
  std::uint32_t buffer = 0;
  std::vector<Index> dims;          ///< one a buffer dimension
  std::int32_t dynamic_dim = -1;    ///< -1: none
  std::shared_ptr<Access> dynamic;  ///< the index tile
  bool skip_out_of_bounds = false;
};

struct Condition {
  enum class Kind : std::uint8_t { not_negative, zero, not_zero } kind = Kind::not_negative;
  Index value;
};

struct Source {
  enum class Kind : std::uint8_t { access, constant, index } kind = Kind::access;
  Access access;
  double constant = 0;
  Index index;
};

struct Step {
  Fn fn = Fn::copy;
  std::array<std::uint32_t, 3> operands{};
};

struct Buffer {
  BufferKind kind = BufferKind::sbuf;
  Dtype dtype = Dtype::float32;
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint32_t partition_dim = 0;
  std::optional<std::uint32_t> alias_of;
  std::uint32_t line = 0;
  std::string data;  ///< constants
};

struct Head {
  Instr instr = Instr::part_of_former;
  Engine engine = Engine::unknown;
  std::vector<std::int64_t> shape;
  std::vector<Condition> mask;
};

inline constexpr std::uint8_t kNoAccumulate = 255;

inline constexpr std::uint64_t kProgramVersion = 2;

/// Caps of the format; parse_program() and validate() enforce them.
inline constexpr std::size_t kMaxProgramBytes = 8u << 20;
inline constexpr std::size_t kMaxNodes = 200'000, kMaxNesting = 64, kMaxBuffers = 16'384, kMaxRank = 8, kMaxTerms = 64;
inline constexpr std::size_t kMaxAtoms = 4'096, kMaxConstantBytes = 64u << 20, kMaxConditions = 64, kMaxSources = 16,
                             kMaxSteps = 64;
inline constexpr std::size_t kMaxAttributes = 64, kMaxName = 1'024, kMaxGridRank = 3, kMaxSourcesOfAll = 1'000'000;

struct Map {
  Head head;
  Access dst;
  Work work = Work::float32;
  std::uint8_t accumulate = kNoAccumulate;  ///< Fn, or none
  std::vector<std::uint32_t> loops;
  std::vector<Source> sources;
  std::vector<Step> steps;
};
struct Fold {
  Head head;
  Access dst;
  Work work = Work::float32;
  Fn function = Fn::add;
  bool negate = false;
  std::uint8_t accumulate = kNoAccumulate;
  std::vector<std::uint32_t> loops;
  std::vector<Source> sources;
  std::vector<Step> steps;
};
struct Matmul {
  Head head;  ///< shape (K, M, N)
  Access dst, stationary, moving;
  bool accumulate = false;
};
struct Scan {
  Head head;
  Access dst;
  Fn op0 = Fn::multiply, op1 = Fn::add;
  Source data0, data1, initial;
};
struct SpecialOp {
  Head head;
  Special kind = Special::bn_stats;
  std::vector<Access> destinations;
  std::vector<Source> sources;
  std::vector<double> attributes;
};
struct Alloc {
  std::uint32_t buffer = 0;
  std::optional<double> fill;
};

struct Node;
using Block = std::vector<Node>;

struct Loop {
  std::uint32_t id = 0;
  bool sequential = false;
  std::int64_t start = 0, step = 1;
  std::int64_t trips = 0;
  Block body;
  std::string name;  ///< its variable; only for words
};
struct If {
  std::vector<Condition> conditions;
  Block then_body, else_body;
};
struct Node {
  std::uint32_t line = 0;
  std::variant<Loop, If, Alloc, Map, Fold, Matmul, Scan, SpecialOp> what;
};

struct Program {
  std::string entry, tracer;
  std::vector<std::int64_t> grid;  ///< empty: one instance
  std::vector<Atom> atoms;
  std::vector<Buffer> buffers;
  std::vector<std::uint32_t> outputs;
  bool returns_tuple = false;
  std::vector<std::uint32_t> params;
  Block body;
};

/// Reads a program. @throws Error{corrupt} naming the offset and what is wrong; never anything else, for any bytes.
Program parse_program(std::string_view bytes);

/// The bytes of a program; parse_program() gives it back equal.
std::string to_bytes(const Program& program);

/// Proves that a program obeys the format's rules and NKI law (docs/formats/program.md, Limits). @throws Error{corrupt}
/// naming the line.
void validate(const Program& program);

/// Total bytes of baked constants.
std::size_t constant_bytes(const Program& program) noexcept;

}  // namespace nkigrid::nkisim
