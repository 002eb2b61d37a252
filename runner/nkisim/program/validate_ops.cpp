#include <algorithm>

#include <fmt/format.h>

#include "runner/nkisim/program/validate.hpp"
#include "runner/nkisim/specials/special.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr double kMaxElements = 1e13;
constexpr std::int64_t kMovingFree = 512, kSpecialRow = 65'536;

bool is_narrow(Dtype dtype) { return is_float(dtype) && size_of(dtype) < 4; }

}  // namespace

Use Validator::use(const Head& head) const {
  Use result;
  result.checked_when_run = !head.mask.empty() || branches_ > 0;
  result.dma = unit_of(head.instr) == Unit::dma;
  return result;
}

void Validator::head(const Head& head, double times, double factor) {
  if (head.shape.size() > kMaxRank) fail("an iteration space of too high a rank");
  for (const std::int64_t extent : head.shape) {
    if (extent < 1) fail("an iteration space with an extent below 1");
  }
  elements_ += static_cast<double>(checked_product(head.shape)) * times * factor;
  if (elements_ > kMaxElements) fail(fmt::format("more than {:g} elements would be computed", kMaxElements));
  if (head.mask.size() > kMaxConditions) fail("too many conditions");
  for (const Condition& condition : head.mask) {
    index(condition.value, head.shape.size());
    ranges_.of(condition.value, head.shape);
  }
}

void Validator::function(Fn fn, Work work) {
  if (!exists_in(fn, work)) {
    fail(fmt::format("function {} does not exist in {} work", static_cast<int>(fn),
                     work == Work::int32 ? "int32" : "float32"));
  }
}

void Validator::accumulation(std::uint8_t accumulate, const std::vector<std::uint32_t>& loops, Work work) {
  if (accumulate == kNoAccumulate) {
    if (!loops.empty()) fail("loops are named but nothing accumulates");
    return;
  }
  if (work == Work::raw || accumulate >= kFns || !is_foldable(static_cast<Fn>(accumulate)))
    fail("an accumulation function that cannot accumulate");
  function(static_cast<Fn>(accumulate), work);
  for (const std::uint32_t id : loops) {
    if (std::find(open_loops_.begin(), open_loops_.end(), id) == open_loops_.end())
      fail(fmt::format("loop {} does not enclose its accumulation", id));
  }
}

void Validator::source(const Source& source, const std::vector<std::int64_t>& shape, const Use& use) {
  if (source.kind == Source::Kind::access) access(source.access, shape, use);
  if (source.kind != Source::Kind::index) return;
  index(source.index, shape.size());
  ranges_.of(source.index, shape);
}

void Validator::expression(const Head& head, const std::vector<Source>& sources, const std::vector<Step>& steps,
                           Work work, const Use& use) {
  if (sources.empty() || sources.size() > kMaxSources) fail("no source, or too many");
  if (steps.size() > kMaxSteps) fail("too many steps");
  for (const Source& each : sources) source(each, head.shape, use);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    function(steps[k].fn, work);
    for (int a = 0; a < arity(steps[k].fn); ++a) {
      if (steps[k].operands[static_cast<std::size_t>(a)] >= sources.size() + k) fail("a step uses a later one");
    }
  }
}

void Validator::check(const Map& map, double times) {
  head(map.head, times);
  Use how = use(map.head);
  how.may_be_dynamic = true;
  destination(map.dst, map.head.shape, how, times);
  expression(map.head, map.sources, map.steps, map.work, how);
  accumulation(map.accumulate, map.loops, map.work);
  if (map.work != Work::raw) return;
  const bool one = map.sources.size() == 1 && map.steps.empty() && map.sources[0].kind == Source::Kind::access;
  if (!one || buffer(map.sources[0].access.buffer).dtype != buffer(map.dst.buffer).dtype) {
    fail("a raw copy that is not from one access of the same dtype");
  }
}

void Validator::check(const Fold& fold, double times) {
  head(fold.head, times);
  if (fold.work == Work::raw || !is_foldable(fold.function)) fail("a fold by a function that cannot fold");
  function(fold.function, fold.work);
  Use how = use(fold.head);
  destination(fold.dst, fold.head.shape, how, times);
  how.may_be_dynamic = true;
  expression(fold.head, fold.sources, fold.steps, fold.work, how);
  accumulation(fold.accumulate, fold.loops, fold.work);
}

void Validator::without_slots(const Head& head, std::string_view what) {
  for (const Condition& condition : head.mask) {
    for (const std::int64_t slot : condition.value.slots) {
      if (slot != 0) fail(fmt::format("a {} has a mask over its elements", what));
    }
  }
}

/// A matmul's conditions trim its axes, one axis each.
void Validator::one_slot_each(const Head& head) {
  for (const Condition& condition : head.mask) {
    const auto& slots = condition.value.slots;
    if (slots.size() - static_cast<std::size_t>(std::count(slots.begin(), slots.end(), 0)) > 1)
      fail("a matmul has a condition over two axes");
  }
}

void Validator::check(const Matmul& matmul, double times) {
  if (matmul.head.shape.size() != 3) fail("a matmul's shape is not (K, M, N)");
  head(matmul.head, times);
  one_slot_each(matmul.head);
  const std::int64_t k = matmul.head.shape[0], m = matmul.head.shape[1], n = matmul.head.shape[2];
  if (k > kPartitions || m > kPartitions || n > kMovingFree) {
    fail(fmt::format("a matmul of K {}, M {}, N {} (at most 128, 128, 512)", k, m, n));
  }
  Use how = use(matmul.head);
  how.one_tile = true;
  how.dma = false;
  destination(matmul.dst, matmul.head.shape, how, times);
  access(matmul.stationary, matmul.head.shape, how);
  access(matmul.moving, matmul.head.shape, how);
  const Buffer &dst = buffer(matmul.dst.buffer), &a = buffer(matmul.stationary.buffer),
               &b = buffer(matmul.moving.buffer);
  if (dst.kind != BufferKind::psum) fail(fmt::format("a matmul's result goes to '{}', which is not in PSUM", dst.name));
  if (a.kind != BufferKind::sbuf || b.kind != BufferKind::sbuf) fail("a matmul's operand is not in SBUF");
  if (!is_float(dst.dtype) || !is_float(a.dtype) || !is_float(b.dtype)) fail("a matmul of integers");
  if (is_narrow(a.dtype) != is_narrow(b.dtype)) fail("a matmul mixes 32-bit and narrower operands");
  psum_bank(matmul.dst, matmul.head.shape);
}

void Validator::check(const Scan& scan, double times) {
  if (scan.head.shape.empty()) fail("a scan over no axis");
  head(scan.head, times);
  Use how = use(scan.head);
  how.one_tile = true;
  how.dma = false;
  destination(scan.dst, scan.head.shape, how, times);
  for (const Source* each : {&scan.data0, &scan.data1, &scan.initial}) source(*each, scan.head.shape, how);
  for (const Fn fn : {scan.op0, scan.op1}) {
    if (arity(fn) != 2) fail("a scan by a function that is not binary");
    function(fn, Work::float32);
  }
}

void Validator::check(const SpecialOp& special, double times) {
  const std::string_view name = to_string(special.kind);
  const SpecialOperation* operation = operation_of(special.kind);
  if (operation == nullptr) fail(fmt::format("operation '{}' is not part of this version of the engine", name));
  if (special.head.shape.size() < 2) fail(fmt::format("{} over fewer than two axes", name));
  head(special.head, times, 8);
  without_slots(special.head, name);
  const std::size_t most = operation->destinations.size(), given = special.destinations.size();
  if (special.sources.size() != operation->sources.size() || given > most ||
      given + operation->optional_destinations < most || special.attributes.size() != operation->attributes) {
    fail(fmt::format("{} with wrong operands", name));
  }
  const std::vector<std::int64_t>& shape = special.head.shape;
  const std::int64_t partitions = shape[0], values = checked_product(shape) / partitions;
  if (partitions > kPartitions || values > kSpecialRow)
    fail(fmt::format("{} over {} partitions of {} values", name, partitions, values));
  if (operation->problem != nullptr) {
    if (const char* problem = operation->problem({partitions, values, special.attributes})) fail(problem);
  }
  Use how = use(special.head);
  how.one_tile = true;
  how.dma = false;
  for (std::size_t k = 0; k < given; ++k)
    destination(special.destinations[k], operand_shape(shape, operation->destinations[k]), how, times);
  for (std::size_t k = 0; k < special.sources.size(); ++k) {
    if (special.sources[k].kind != Source::Kind::access) fail(fmt::format("{} of a source that is no access", name));
    access(special.sources[k].access, operand_shape(shape, operation->sources[k]), how);
  }
}

}  // namespace nkigrid::nkisim
