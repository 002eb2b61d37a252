#include "runner/nkisim/program/validate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "jobs/base/error.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr double kMaxOperations = 1e8;

}  // namespace

Validator::Validator(const Program& program) : program_(program), ranges_(program) {}

void Validator::fail(std::string_view what) const {
  throw Error(ErrorCode::corrupt, line_ == 0 ? fmt::format("program is not valid: {}", what)
                                             : fmt::format("program is not valid at line {}: {}", line_, what));
}

void Validator::run() {
  buffers();
  interface_lists();
  atoms();
  double instances = 1;
  if (program_.grid.size() > kMaxGridRank) fail("a grid of more than 3 axes");
  for (const std::int64_t extent : program_.grid) {
    if (extent < 1) fail("a grid extent below 1");
    instances *= static_cast<double>(extent);
  }
  block(program_.body, instances);
  line_ = 0;
  for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const bool output = buffer(b).kind == BufferKind::output && !buffer(b).alias_of;
    if (output && !written_[b]) fail(fmt::format("output '{}' is never written", buffer(b).name));
  }
}

void Validator::block(const Block& nodes, double times) {
  if (++depth_ > kMaxNesting + 1) fail(fmt::format("nesting deeper than {}", kMaxNesting));
  std::vector<std::uint32_t> allocated;
  for (const Node& each : nodes) node(each, times, allocated);
  for (const std::uint32_t id : allocated) allocated_[id] = false;
  --depth_;
}

void Validator::node(const Node& node, double times, std::vector<std::uint32_t>& allocated) {
  if (++nodes_ > kMaxNodes) fail(fmt::format("more than {} nodes", kMaxNodes));
  line_ = node.line;
  operations_ += times;
  if (operations_ > kMaxOperations) fail(fmt::format("more than {:g} operations would be executed", kMaxOperations));
  try {
    std::visit([&](const auto& what) { op(what, times, allocated); }, node.what);
  } catch (const Error& error) {
    // Interval arithmetic does not know the line; fail() does.
    if (std::string_view(error.what()).find("program is not valid") == std::string_view::npos) fail(error.what());
    throw;
  }
}

void Validator::op(const Loop& loop, double times, std::vector<std::uint32_t>&) {
  if (loop.trips < 0) fail("a negative trip count");
  open_loops_.push_back(loop.id);
  const Atoms before = open_atoms_;
  if (const auto atom = atom_of_loop_.find(loop.id); atom != atom_of_loop_.end()) open_atoms_.set(atom->second);
  operations_ += times * static_cast<double>(loop.trips);
  if (operations_ > kMaxOperations) fail(fmt::format("more than {:g} operations would be executed", kMaxOperations));
  block(loop.body, times * static_cast<double>(loop.trips));
  open_atoms_ = before;
  open_loops_.pop_back();
}

void Validator::op(const If& branch, double times, std::vector<std::uint32_t>&) {
  if (branch.conditions.size() > kMaxConditions) fail("too many conditions");
  for (const Condition& condition : branch.conditions) index(condition.value, 0);
  ++branches_;
  block(branch.then_body, times);
  block(branch.else_body, times);
  --branches_;
}

void Validator::op(const Alloc& alloc, double, std::vector<std::uint32_t>& allocated) {
  if (alloc.buffer >= program_.buffers.size()) fail("an alloc of no buffer");
  const Buffer& what = buffer(alloc.buffer);
  const bool kind = on_chip(alloc.buffer) || what.kind == BufferKind::hbm;
  if (!kind || what.alias_of)
    fail(fmt::format("an alloc of '{}', which is no on-chip or private HBM buffer of its own", what.name));
  if (has_alloc_[alloc.buffer]) fail(fmt::format("a second alloc of '{}'", what.name));
  if (alloc.fill && what.kind == BufferKind::hbm) fail(fmt::format("HBM buffer '{}' has an initial value", what.name));
  has_alloc_[alloc.buffer] = allocated_[alloc.buffer] = true;
  allocated.push_back(alloc.buffer);
}

void validate(const Program& program) { Validator(program).run(); }

}  // namespace nkigrid::nkisim
