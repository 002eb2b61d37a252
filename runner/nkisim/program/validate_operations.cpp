#include "runner/nkisim/program/validate_operations.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "runner/nkisim/specials/special.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr double kMaxElements = 1e13;
constexpr std::int64_t kMovingFree = 512, kSpecialRow = 65'536;

bool is_narrow(Dtype dtype) { return is_float(dtype) && size_of(dtype) < 4; }

/// How far one step along each axis of the space moves an access in dimension `dim`.
std::vector<std::int64_t> moves_of(const Access& access, std::size_t dim, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> moves = access.dims[dim].slots;
  for (std::size_t axis = 0; axis < moves.size(); ++axis) {
    if (shape[axis] == 1) moves[axis] = 0;
  }
  return moves;
}

bool stands_still(const std::vector<std::int64_t>& moves) {
  return std::all_of(moves.begin(), moves.end(), [](std::int64_t move) { return move == 0; });
}

}  // namespace

/// An operation costs what its instruction costs: no name stands on more work than the tracer makes under it.
void OperationRules::form(const Head& head, NodeTag operation, std::size_t steps) const {
  const InstrForm& form = form_of(head.instr);
  if (form.operation != operation)
    state_.fail(fmt::format("instruction '{}' stands on a {}", to_string(head.instr), to_string(operation)));
  if (steps > form.most_steps) {
    state_.fail(
        fmt::format("instruction '{}' has {} steps (at most {})", to_string(head.instr), steps, form.most_steps));
  }
  if ((head.engine == Engine::dma) != (form.unit == Unit::dma))
    state_.fail(fmt::format("instruction '{}' runs on another engine than its own", to_string(head.instr)));
}

/// DMA computes nothing, tensor_tensor has two operands, a stream of random numbers nothing to read but its seed.
void OperationRules::operands(const Map& map) const {
  if (unit_of(map.head.instr) == Unit::dma && map.sources.size() != 1)
    state_.fail(fmt::format("instruction '{}' has {} sources", to_string(map.head.instr), map.sources.size()));
  const auto tensors = std::count_if(map.sources.begin(), map.sources.end(),
                                     [](const Source& source) { return source.kind == Source::Kind::access; });
  if (map.head.instr == Instr::tensor_tensor && tensors > 2) state_.fail("a tensor_tensor of more than two tensors");
  if (map.head.instr != Instr::random) return;
  for (const Source& source : map.sources) {
    if (source.kind != Source::Kind::access) continue;
    for (std::size_t dim = 0; dim < source.access.dims.size(); ++dim) {
      if (!stands_still(moves_of(source.access, dim, map.head.shape))) state_.fail("random numbers are made of a tile");
    }
  }
}

/// Each partition of an engine has its own lane: what it reads lies in it, or in one partition that is repeated.
void OperationRules::lanes(const Head& head, const Access& dst, const std::vector<Source>& sources) const {
  if (form_of(head.instr).any_lane) return;
  const auto partitions = [&](const Access& access) {
    return moves_of(access, state_.buffer(access.buffer).partition_dim, head.shape);
  };
  const std::vector<std::int64_t> written = partitions(dst);
  for (const Source& source : sources) {
    if (source.kind != Source::Kind::access) continue;
    const std::vector<std::int64_t> read = partitions(source.access);
    if (read != written && !stands_still(read)) {
      state_.fail(fmt::format("instruction '{}' reads '{}' in other partitions than it writes", to_string(head.instr),
                              state_.buffer(source.access.buffer).name));
    }
  }
}

Use OperationRules::use(const Head& head) const {
  Use result;
  result.checked_when_run = !head.mask.empty() || state_.branches > 0;
  result.dma = unit_of(head.instr) == Unit::dma;
  return result;
}

/// Of an operation of one engine over whole tiles: it reaches no HBM and walks over no blocks.
Use OperationRules::use_in_tiles(const Head& head) const {
  Use result = use(head);
  result.one_tile = true;
  result.dma = false;
  return result;
}

void OperationRules::head(const Head& head, double times, double factor) {
  if (head.shape.size() > kMaxRank) state_.fail("an iteration space of too high a rank");
  for (const std::int64_t extent : head.shape) {
    if (extent < 1) state_.fail("an iteration space with an extent below 1");
  }
  elements_ += static_cast<double>(checked_product(head.shape)) * times * factor;
  if (elements_ > kMaxElements) state_.fail(fmt::format("more than {:g} elements would be computed", kMaxElements));
  if (head.mask.size() > kMaxConditions) state_.fail("too many conditions");
  for (const Condition& condition : head.mask) {
    accesses_.index(condition.value, head.shape.size());
    state_.ranges.of(condition.value, head.shape);
  }
}

void OperationRules::function(Fn fn, Work work) {
  if (!exists_in(fn, work)) {
    state_.fail(fmt::format("function {} does not exist in {} work", static_cast<int>(fn),
                            work == Work::int32 ? "int32" : "float32"));
  }
}

void OperationRules::accumulation(std::uint8_t accumulate, const std::vector<std::uint32_t>& loops, Work work) {
  if (accumulate == kNoAccumulate) {
    if (!loops.empty()) state_.fail("loops are named but nothing accumulates");
    return;
  }
  if (work == Work::raw || accumulate >= kFns || !is_foldable(static_cast<Fn>(accumulate)))
    state_.fail("an accumulation function that cannot accumulate");
  function(static_cast<Fn>(accumulate), work);
  for (const std::uint32_t id : loops) {
    if (std::find(state_.open_loops.begin(), state_.open_loops.end(), id) == state_.open_loops.end())
      state_.fail(fmt::format("loop {} does not enclose its accumulation", id));
  }
}

void OperationRules::source(const Source& source, const std::vector<std::int64_t>& shape, const Use& use) {
  if (source.kind == Source::Kind::access) accesses_.access(source.access, shape, use);
  if (source.kind != Source::Kind::index) return;
  accesses_.index(source.index, shape.size());
  state_.ranges.of(source.index, shape);
}

void OperationRules::expression(const Head& head, const std::vector<Source>& sources, const std::vector<Step>& steps,
                                Work work, const Use& use) {
  if (sources.empty() || sources.size() > kMaxSources) state_.fail("no source, or too many");
  if (steps.size() > kMaxSteps) state_.fail("too many steps");
  for (const Source& each : sources) source(each, head.shape, use);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    function(steps[k].fn, work);
    for (int a = 0; a < arity(steps[k].fn); ++a) {
      if (steps[k].operands[static_cast<std::size_t>(a)] >= sources.size() + k) state_.fail("a step uses a later one");
    }
  }
}

void OperationRules::check(const Map& map, double times) {
  form(map.head, NodeTag::map, map.steps.size());
  head(map.head, times);
  Use how = use(map.head);
  how.may_be_dynamic = true;
  accesses_.destination(map.dst, map.head.shape, how, times);
  expression(map.head, map.sources, map.steps, map.work, how);
  operands(map);
  lanes(map.head, map.dst, map.sources);
  accumulation(map.accumulate, map.loops, map.work);
  if (map.work != Work::raw) return;
  const bool one = map.sources.size() == 1 && map.steps.empty() && map.sources[0].kind == Source::Kind::access;
  if (!one || state_.buffer(map.sources[0].access.buffer).dtype != state_.buffer(map.dst.buffer).dtype) {
    state_.fail("a raw copy that is not from one access of the same dtype");
  }
}

void OperationRules::check(const Fold& fold, double times) {
  form(fold.head, NodeTag::fold, fold.steps.size());
  head(fold.head, times);
  if (fold.work == Work::raw || !is_foldable(fold.function)) state_.fail("a fold by a function that cannot fold");
  function(fold.function, fold.work);
  Use how = use(fold.head);
  accesses_.destination(fold.dst, fold.head.shape, how, times);
  how.may_be_dynamic = true;
  expression(fold.head, fold.sources, fold.steps, fold.work, how);
  lanes(fold.head, fold.dst, fold.sources);
  accumulation(fold.accumulate, fold.loops, fold.work);
}

void OperationRules::without_slots(const Head& head, std::string_view what) {
  for (const Condition& condition : head.mask) {
    for (const std::int64_t slot : condition.value.slots) {
      if (slot != 0) state_.fail(fmt::format("a {} has a mask over its elements", what));
    }
  }
}

/// A matmul's conditions trim its axes, one axis each.
void OperationRules::one_slot_each(const Head& head) {
  for (const Condition& condition : head.mask) {
    const auto& slots = condition.value.slots;
    if (slots.size() - static_cast<std::size_t>(std::count(slots.begin(), slots.end(), 0)) > 1)
      state_.fail("a matmul has a condition over two axes");
  }
}

void OperationRules::check(const Matmul& matmul, double times) {
  form(matmul.head, NodeTag::matmul);
  if (matmul.head.shape.size() != 3) state_.fail("a matmul's shape is not (K, M, N)");
  head(matmul.head, times);
  one_slot_each(matmul.head);
  const std::int64_t k = matmul.head.shape[0], m = matmul.head.shape[1], n = matmul.head.shape[2];
  if (k > kPartitions || m > kPartitions || n > kMovingFree) {
    state_.fail(fmt::format("a matmul of K {}, M {}, N {} (at most 128, 128, 512)", k, m, n));
  }
  const Use how = use_in_tiles(matmul.head);
  accesses_.destination(matmul.dst, matmul.head.shape, how, times);
  accesses_.access(matmul.stationary, matmul.head.shape, how);
  accesses_.access(matmul.moving, matmul.head.shape, how);
  matmul_operands(matmul);
  accesses_.psum_bank(matmul.dst, matmul.head.shape);
}

void OperationRules::matmul_operands(const Matmul& matmul) const {
  const Buffer& dst = state_.buffer(matmul.dst.buffer);
  const Buffer &a = state_.buffer(matmul.stationary.buffer), &b = state_.buffer(matmul.moving.buffer);
  if (dst.kind != BufferKind::psum)
    state_.fail(fmt::format("a matmul's result goes to '{}', which is not in PSUM", dst.name));
  if (a.kind != BufferKind::sbuf || b.kind != BufferKind::sbuf) state_.fail("a matmul's operand is not in SBUF");
  if (!is_float(dst.dtype) || !is_float(a.dtype) || !is_float(b.dtype)) state_.fail("a matmul of integers");
  if (is_narrow(a.dtype) != is_narrow(b.dtype)) state_.fail("a matmul mixes 32-bit and narrower operands");
}

void OperationRules::check(const Scan& scan, double times) {
  form(scan.head, NodeTag::scan);
  if (scan.head.shape.empty()) state_.fail("a scan over no axis");
  head(scan.head, times);
  const Use how = use_in_tiles(scan.head);
  accesses_.destination(scan.dst, scan.head.shape, how, times);
  for (const Source* each : {&scan.data0, &scan.data1, &scan.initial}) source(*each, scan.head.shape, how);
  for (const Fn fn : {scan.op0, scan.op1}) {
    if (arity(fn) != 2) state_.fail("a scan by a function that is not binary");
    function(fn, Work::float32);
  }
  lanes(scan.head, scan.dst, {scan.data0, scan.data1, scan.initial});
}

void OperationRules::check(const SpecialOp& special, double times) {
  const std::string_view name = to_string(special.kind);
  const SpecialOperation* operation = operation_of(special.kind);
  if (operation == nullptr) state_.fail(fmt::format("operation '{}' is not part of this version of the engine", name));
  form(special.head, NodeTag::special);
  if (to_string(special.head.instr) != name) state_.fail(fmt::format("{} by another instruction", name));
  const std::vector<std::int64_t>& shape = special.head.shape;
  if (shape.size() < 2) state_.fail(fmt::format("{} over fewer than two axes", name));
  head(special.head, times, 8);
  without_slots(special.head, name);
  special_form(special, *operation);
  const Use how = use_in_tiles(special.head);
  for (std::size_t k = 0; k < special.destinations.size(); ++k)
    accesses_.destination(special.destinations[k], operand_shape(shape, operation->destinations[k]), how, times);
  for (std::size_t k = 0; k < special.sources.size(); ++k) {
    if (special.sources[k].kind != Source::Kind::access)
      state_.fail(fmt::format("{} of a source that is no access", name));
    accesses_.access(special.sources[k].access, operand_shape(shape, operation->sources[k]), how);
  }
}

void OperationRules::special_form(const SpecialOp& special, const SpecialOperation& operation) const {
  const std::string_view name = to_string(special.kind);
  const std::size_t most = operation.destinations.size(), given = special.destinations.size();
  if (special.sources.size() != operation.sources.size() || given > most ||
      given + operation.optional_destinations < most || special.attributes.size() != operation.attributes) {
    state_.fail(fmt::format("{} with wrong operands", name));
  }
  const std::int64_t partitions = special.head.shape[0], values = checked_product(special.head.shape) / partitions;
  if (partitions > kPartitions || values > kSpecialRow)
    state_.fail(fmt::format("{} over {} partitions of {} values", name, partitions, values));
  if (operation.problem == nullptr) return;
  if (const char* problem = operation.problem({partitions, values, special.attributes})) state_.fail(problem);
}

}  // namespace nkigrid::nkisim
