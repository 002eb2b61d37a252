#include "runner/nkisim/program/parse.hpp"

#include <fmt/format.h>

#include "jobs/base/error.hpp"
#include "runner/nkisim/program/ranges.hpp"
#include "runner/nkisim/program/reader.hpp"

namespace nkigrid::nkisim {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view bytes) : in_(bytes) {}

  Program program() {
    for (const char c : std::string_view("NKIPROG\0", 8)) {
      if (in_.u8() != static_cast<std::uint8_t>(c)) in_.fail("it does not begin with NKIPROG");
    }
    if (const std::uint64_t version = in_.u(); version != kProgramVersion) {
      in_.fail(fmt::format("version {} (this program reads {})", version, kProgramVersion));
    }
    out_.entry = in_.blob(kMaxName, "name length");
    out_.tracer = in_.blob(kMaxName, "name length");
    for (std::size_t k = in_.count(kMaxGridRank, "grid rank"); k > 0; --k)
      out_.grid.push_back(in_.natural("grid extent"));
    for (std::size_t k = in_.count(kMaxAtoms, "atom count"); k > 0; --k) out_.atoms.push_back(atom());
    for (std::size_t k = in_.count(kMaxBuffers, "buffer count"); k > 0; --k) out_.buffers.push_back(buffer());
    out_.outputs = buffer_ids("output count");
    out_.returns_tuple = in_.u8_below(2, "tuple flag") != 0;
    out_.params = buffer_ids("parameter count");
    out_.body = block(0);
    if (!in_.at_end()) in_.fail("bytes follow the end of the program");
    return std::move(out_);
  }

 private:
  std::vector<std::uint32_t> buffer_ids(std::string_view what) {
    std::vector<std::uint32_t> ids;
    for (std::size_t k = in_.count(kMaxBuffers, what); k > 0; --k) ids.push_back(buffer_id());
    return ids;
  }
  std::uint32_t buffer_id() {
    const std::uint64_t id = in_.u();
    if (id >= out_.buffers.size()) in_.fail(fmt::format("buffer {} (there are {})", id, out_.buffers.size()));
    return static_cast<std::uint32_t>(id);
  }
  Affine affine(std::size_t atoms) {
    Affine result;
    result.constant = in_.i();
    for (std::size_t k = in_.count(kMaxTerms, "term count"); k > 0; --k) {
      Term term;
      const std::uint64_t id = in_.u();
      if (id >= atoms) in_.fail(fmt::format("atom {} (legal: below {})", id, atoms));
      term.atom = static_cast<std::uint32_t>(id);
      term.coefficient = in_.i();
      result.terms.push_back(term);
    }
    return result;
  }
  Atom atom() {
    Atom result;
    result.kind = static_cast<Atom::Kind>(in_.u8_below(kAtomKinds, "atom kind"));
    if (result.kind == Atom::Kind::loop || result.kind == Atom::Kind::program_id) {
      result.id = in_.u32("loop id or axis");
      return result;
    }
    result.operand = affine(out_.atoms.size());
    result.divisor = in_.natural("divisor");
    if (result.divisor == 0) in_.fail("divisor 0 (legal: above 0)");
    return result;
  }
  Buffer buffer() {
    Buffer result;
    result.kind = static_cast<BufferKind>(in_.u8_below(kBufferKinds, "buffer kind"));
    result.dtype = static_cast<Dtype>(in_.u8_below(kDtypes, "dtype"));
    result.name = in_.blob(kMaxName, "name length");
    for (std::size_t k = in_.count(kMaxRank, "rank"); k > 0; --k) result.shape.push_back(in_.natural("extent"));
    result.partition_dim = static_cast<std::uint32_t>(in_.u_at_most(kMaxRank - 1, "partition dimension"));
    if (const std::uint64_t alias = in_.u_at_most(out_.buffers.size(), "alias"); alias > 0) {
      result.alias_of = static_cast<std::uint32_t>(alias - 1);
      result.root = root_of(out_, *result.alias_of);
    }
    result.line = in_.u32("line");
    if (result.kind == BufferKind::constant) result.data = in_.blob(kMaxConstantBytes, "constant size");
    return result;
  }
  Index index(std::size_t rank) {
    Index result;
    result.base = affine(out_.atoms.size());
    for (std::size_t k = 0; k < rank; ++k) result.slots.push_back(in_.i());
    return result;
  }
  Access access(std::size_t rank, bool may_be_dynamic = true) {
    if (++sources_ > kMaxSourcesOfAll) in_.fail(fmt::format("more than {} accesses", kMaxSourcesOfAll));
    Access result;
    result.buffer = buffer_id();
    const std::size_t dims = out_.buffers[result.buffer].shape.size();
    for (std::size_t k = 0; k < dims; ++k) result.dims.push_back(index(rank));
    const std::uint64_t dynamic = in_.u_at_most(dims, "dynamic dimension");
    if (dynamic > 0) {
      if (!may_be_dynamic) in_.fail("an index tile is itself accessed dynamically");
      result.dynamic_dim = static_cast<std::int32_t>(dynamic) - 1;
      result.dynamic = std::make_shared<Access>(access(rank, false));
      result.skip_out_of_bounds = in_.u8_below(2, "out-of-bounds mode") != 0;
    }
    return result;
  }
  std::vector<Condition> conditions(std::size_t rank) {
    std::vector<Condition> result;
    for (std::size_t k = in_.count(kMaxConditions, "condition count"); k > 0; --k) {
      Condition condition;
      condition.kind = static_cast<Condition::Kind>(in_.u8_below(kConditionKinds, "condition kind"));
      condition.value = index(rank);
      result.push_back(std::move(condition));
    }
    return result;
  }
  Source source(std::size_t rank) {
    Source result;
    result.kind = static_cast<Source::Kind>(in_.u8_below(kSourceKinds, "source kind"));
    switch (result.kind) {
      case Source::Kind::access:
        result.access = access(rank);
        break;
      case Source::Kind::constant:
        if (++sources_ > kMaxSourcesOfAll) in_.fail(fmt::format("more than {} sources", kMaxSourcesOfAll));
        result.constant = in_.f64();
        break;
      case Source::Kind::index:
        result.index = index(rank);
        break;
    }
    return result;
  }
  std::vector<Source> sources(std::size_t rank) {
    std::vector<Source> result;
    for (std::size_t k = in_.count(kMaxSources, "source count"); k > 0; --k) result.push_back(source(rank));
    return result;
  }
  std::vector<Step> steps(std::size_t sources) {
    std::vector<Step> result;
    for (std::size_t k = in_.count(kMaxSteps, "step count"); k > 0; --k) {
      Step step;
      step.fn = function();
      for (int operand = 0; operand < arity(step.fn); ++operand) {
        const std::uint64_t number = in_.u();
        if (number >= sources + result.size())
          in_.fail(fmt::format("operand {} is neither a source nor an earlier step", number));
        step.operands[static_cast<std::size_t>(operand)] = static_cast<std::uint32_t>(number);
      }
      result.push_back(step);
    }
    return result;
  }
  Fn function() { return static_cast<Fn>(in_.u8_below(kFns, "function")); }
  std::uint8_t accumulation() {
    const std::uint8_t value = in_.u8();
    if (value != kNoAccumulate && value >= kFns) in_.fail(fmt::format("accumulation {}", value));
    return value;
  }
  std::vector<std::uint32_t> loop_ids() {
    std::vector<std::uint32_t> result;
    for (std::size_t k = in_.count(kMaxNesting, "loop count"); k > 0; --k) result.push_back(in_.u32("loop id"));
    return result;
  }
  Head head() {
    Head result;
    const std::uint64_t instr = in_.u_at_most(kInstrs - 1, "instruction");
    result.instr = static_cast<Instr>(instr);
    const std::uint8_t engine = in_.u8_below(static_cast<int>(Engine::dma) + 1, "engine");
    if (!is_engine(engine)) in_.fail(fmt::format("engine {}", engine));
    result.engine = static_cast<Engine>(engine);
    for (std::size_t k = in_.count(kMaxRank, "rank"); k > 0; --k) result.shape.push_back(in_.natural("extent"));
    result.mask = conditions(result.shape.size());
    return result;
  }
  Map map() {
    Map result;
    result.head = head();
    const std::size_t rank = result.head.shape.size();
    result.dst = access(rank);
    result.work = static_cast<Work>(in_.u8_below(kWorks, "work"));
    result.accumulate = accumulation();
    result.loops = loop_ids();
    result.sources = sources(rank);
    result.steps = steps(result.sources.size());
    return result;
  }
  Fold fold() {
    Fold result;
    result.head = head();
    const std::size_t rank = result.head.shape.size();
    result.dst = access(rank);
    result.work = static_cast<Work>(in_.u8_below(kWorks, "work"));
    result.function = function();
    result.negate = in_.u8_below(2, "negate flag") != 0;
    result.accumulate = accumulation();
    result.loops = loop_ids();
    result.sources = sources(rank);
    result.steps = steps(result.sources.size());
    return result;
  }
  Matmul matmul() {
    Matmul result;
    result.head = head();
    if (result.head.shape.size() != 3) in_.fail("a matmul's shape is not (K, M, N)");
    result.dst = access(3);
    result.stationary = access(3);
    result.moving = access(3);
    result.accumulate = in_.u8_below(2, "accumulate flag") != 0;
    return result;
  }
  Scan scan() {
    Scan result;
    result.head = head();
    const std::size_t rank = result.head.shape.size();
    result.dst = access(rank);
    result.op0 = function();
    result.op1 = function();
    result.data0 = source(rank);
    result.data1 = source(rank);
    result.initial = source(rank);
    return result;
  }
  SpecialOp special() {
    SpecialOp result;
    result.head = head();
    const std::size_t rank = result.head.shape.size();
    result.kind = static_cast<Special>(in_.u8_below(kSpecials, "special kind"));
    for (std::size_t k = in_.count(kMaxSources, "destination count"); k > 0; --k)
      result.destinations.push_back(access(rank));
    result.sources = sources(rank);
    for (std::size_t k = in_.count(kMaxAttributes, "attribute count"); k > 0; --k)
      result.attributes.push_back(in_.f64());
    return result;
  }
  Loop loop(std::size_t depth) {
    Loop result;
    result.id = in_.u32("loop id");
    result.name = in_.blob(kMaxName, "name length");
    result.sequential = in_.u8_below(2, "loop kind") != 0;
    result.start = in_.i();
    result.trips = in_.natural("trip count");
    result.step = in_.i();
    result.body = block(depth + 1);
    return result;
  }
  If branch(std::size_t depth) {
    If result;
    result.conditions = conditions(0);
    result.then_body = block(depth + 1);
    result.else_body = block(depth + 1);
    return result;
  }
  Alloc alloc() {
    Alloc result;
    result.buffer = buffer_id();
    if (in_.u8_below(2, "fill flag") != 0) result.fill = in_.f64();
    return result;
  }
  Node node(std::size_t depth) {
    if (++nodes_ > kMaxNodes) in_.fail(fmt::format("more than {} nodes", kMaxNodes));
    Node result;
    const std::uint8_t tag = in_.u8();
    result.line = in_.u32("line");
    switch (static_cast<NodeTag>(tag)) {
      case NodeTag::loop:
        result.what = loop(depth);
        break;
      case NodeTag::branch:
        result.what = branch(depth);
        break;
      case NodeTag::alloc:
        result.what = alloc();
        break;
      case NodeTag::map:
        result.what = map();
        break;
      case NodeTag::fold:
        result.what = fold();
        break;
      case NodeTag::matmul:
        result.what = matmul();
        break;
      case NodeTag::scan:
        result.what = scan();
        break;
      case NodeTag::special:
        result.what = special();
        break;
      default:
        in_.fail(fmt::format("node tag {} (legal: 1 to {})", tag, kNodeTags));
    }
    return result;
  }
  Block block(std::size_t depth) {
    if (depth > kMaxNesting) in_.fail(fmt::format("nesting deeper than {}", kMaxNesting));
    Block result;
    for (std::size_t k = in_.count(kMaxNodes, "node count"); k > 0; --k) result.push_back(node(depth));
    return result;
  }

  ByteReader in_;
  Program out_;
  std::size_t nodes_ = 0, sources_ = 0;
};

}  // namespace

Program parse_program(std::string_view bytes) {
  if (bytes.size() > kMaxProgramBytes) {
    throw Error(ErrorCode::corrupt, fmt::format("program has {} bytes (at most {})", bytes.size(), kMaxProgramBytes));
  }
  return Parser(bytes).program();
}

}  // namespace nkigrid::nkisim
