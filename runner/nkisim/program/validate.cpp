#include "runner/nkisim/program/validate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "jobs/base/error.hpp"
#include "runner/nkisim/program/validate_declarations.hpp"
#include "runner/nkisim/program/validate_operations.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr double kMaxOperations = 1e8;

/// Goes over the body once; `times` is how often a block runs in all.
class Validator {
 public:
  explicit Validator(const Program& program) : state_(program), accesses_(state_), rules_(state_) {}
  void run();

 private:
  void block(const Block& nodes, double times);
  void node(const Node& node, double times, std::vector<std::uint32_t>& allocated);
  void op(const Loop& loop, double times, std::vector<std::uint32_t>& allocated);
  void op(const If& branch, double times, std::vector<std::uint32_t>& allocated);
  void op(const Alloc& alloc, double times, std::vector<std::uint32_t>& allocated);
  template <class Op>
  void op(const Op& what, double times, std::vector<std::uint32_t>&) {
    rules_.check(what, times);
  }
  void count(double times);

  ValidateState state_;
  AccessRules accesses_;
  OperationRules rules_;
  std::size_t nodes_ = 0, depth_ = 0;
  double operations_ = 0;
};

void Validator::run() {
  check_declarations(state_);
  double instances = 1;
  if (state_.program.grid.size() > kMaxGridRank) state_.fail("a grid of more than 3 axes");
  for (const std::int64_t extent : state_.program.grid) {
    if (extent < 1) state_.fail("a grid extent below 1");
    instances *= static_cast<double>(extent);
  }
  block(state_.program.body, instances);
  state_.line = 0;
  for (std::uint32_t b = 0; b < state_.program.buffers.size(); ++b) {
    const bool output = state_.buffer(b).kind == BufferKind::output && !state_.buffer(b).alias_of;
    if (output && !state_.written[b]) state_.fail(fmt::format("output '{}' is never written", state_.buffer(b).name));
  }
}

void Validator::block(const Block& nodes, double times) {
  if (++depth_ > kMaxNesting + 1) state_.fail(fmt::format("nesting deeper than {}", kMaxNesting));
  std::vector<std::uint32_t> allocated;
  for (const Node& each : nodes) node(each, times, allocated);
  for (const std::uint32_t id : allocated) state_.allocated[id] = false;
  --depth_;
}

void Validator::node(const Node& node, double times, std::vector<std::uint32_t>& allocated) {
  if (++nodes_ > kMaxNodes) state_.fail(fmt::format("more than {} nodes", kMaxNodes));
  state_.line = node.line;
  count(times);
  try {
    std::visit([&](const auto& what) { op(what, times, allocated); }, node.what);
  } catch (const Error& error) {
    // Interval arithmetic does not know the line; fail() does.
    if (std::string_view(error.what()).find("program is not valid") == std::string_view::npos)
      state_.fail(error.what());
    throw;
  }
}

void Validator::count(double times) {
  operations_ += times;
  if (operations_ > kMaxOperations)
    state_.fail(fmt::format("more than {:g} operations would be executed", kMaxOperations));
}

void Validator::op(const Loop& loop, double times, std::vector<std::uint32_t>&) {
  if (loop.trips < 0) state_.fail("a negative trip count");
  state_.open_loops.push_back(loop.id);
  const ValidateState::Atoms before = state_.open_atoms;
  if (const auto atom = state_.atom_of_loop.find(loop.id); atom != state_.atom_of_loop.end())
    state_.open_atoms.set(atom->second);
  count(times * static_cast<double>(loop.trips));
  block(loop.body, times * static_cast<double>(loop.trips));
  state_.open_atoms = before;
  state_.open_loops.pop_back();
}

void Validator::op(const If& branch, double times, std::vector<std::uint32_t>&) {
  if (branch.conditions.size() > kMaxConditions) state_.fail("too many conditions");
  for (const Condition& condition : branch.conditions) accesses_.index(condition.value, 0);
  ++state_.branches;
  block(branch.then_body, times);
  block(branch.else_body, times);
  --state_.branches;
}

void Validator::op(const Alloc& alloc, double, std::vector<std::uint32_t>& allocated) {
  if (alloc.buffer >= state_.program.buffers.size()) state_.fail("an alloc of no buffer");
  const Buffer& what = state_.buffer(alloc.buffer);
  const bool kind = state_.on_chip(alloc.buffer) || what.kind == BufferKind::hbm;
  if (!kind || what.alias_of)
    state_.fail(fmt::format("an alloc of '{}', which is no on-chip or private HBM buffer of its own", what.name));
  if (state_.has_alloc[alloc.buffer]) state_.fail(fmt::format("a second alloc of '{}'", what.name));
  if (alloc.fill && what.kind == BufferKind::hbm)
    state_.fail(fmt::format("HBM buffer '{}' has an initial value", what.name));
  state_.has_alloc[alloc.buffer] = state_.allocated[alloc.buffer] = true;
  allocated.push_back(alloc.buffer);
}

}  // namespace

void validate(const Program& program) { Validator(program).run(); }

}  // namespace nkigrid::nkisim
