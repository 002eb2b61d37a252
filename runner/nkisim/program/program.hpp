#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runner/nkisim/numbers/numbers.hpp"

/// The traced form of a kernel in memory; docs/formats/program.md says what every field means.
namespace nkigrid::nkisim {

struct Term {
  std::uint32_t atom = 0;
  std::int64_t coefficient = 0;
  bool operator==(const Term&) const = default;
};
struct Affine {
  std::int64_t constant = 0;
  std::vector<Term> terms;
  bool operator==(const Affine&) const = default;  ///< as written: the order of the terms counts
};

struct Atom {
  using Kind = AtomKind;
  Kind kind = Kind::loop;
  std::uint32_t id = 0;  ///< loop id or axis
  Affine operand;        ///< floor_div, mod
  std::int64_t divisor = 1;
};

/// aff + sum(slots[k] * point[k])
struct Index {
  Affine base;
  std::vector<std::int64_t> slots;  ///< {R}
  bool operator==(const Index&) const = default;
};

struct Access {
  std::uint32_t buffer = 0;
  std::vector<Index> dims;          ///< one a buffer dimension
  std::int32_t dynamic_dim = -1;    ///< -1: none
  std::shared_ptr<Access> dynamic;  ///< the index tile
  bool skip_out_of_bounds = false;
};

struct Condition {
  using Kind = ConditionKind;
  Kind kind = Kind::not_negative;
  Index value;
};

struct Source {
  using Kind = SourceKind;
  Kind kind = Kind::access;
  Access access;
  double constant = 0;
  Index index;
};

struct Step {
  Fn fn = Fn::copy;
  std::array<std::uint32_t, 3> operands{};
};

/// Lies in SBUF or PSUM: has partitions and, before them, block dimensions.
constexpr bool is_on_chip(BufferKind kind) { return kind == BufferKind::sbuf || kind == BufferKind::psum; }

struct Buffer {
  BufferKind kind = BufferKind::sbuf;
  Dtype dtype = Dtype::float32;
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint32_t partition_dim = 0;
  std::optional<std::uint32_t> alias_of;
  std::optional<std::uint32_t> root = {};  ///< of a parsed alias: the end of its chain, see root_of()
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

/// Bytes of numbers that are written down in a program: those of its constant buffers, and four for each different
/// number in its instructions where those are more than 256 (an unrolled loop repeats its numbers, answers do not).
std::size_t constant_bytes(const Program& program);

}  // namespace nkigrid::nkisim
