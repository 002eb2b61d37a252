#include "runner/nkisim/engine/lower.hpp"

#include <algorithm>
#include <set>

#include "jobs/base/error.hpp"
#include "runner/nkisim/diagnose/liveness.hpp"
#include "runner/nkisim/engine/forward.hpp"

namespace nkigrid::nkisim {
namespace {

/// floor_div and mod atoms that follow from a changed loop or program id.
struct Derived {
  std::vector<std::uint32_t> direct;    ///< atoms that are the changed value
  std::vector<std::uint32_t> computed;  ///< atoms to compute again, in order
};

std::int64_t compute(const Atom& atom, const std::vector<std::int64_t>& atoms) {
  std::int64_t value = atom.operand.constant;
  for (const Term& term : atom.operand.terms) value += term.coefficient * atoms[term.atom];
  const std::int64_t quotient = value / atom.divisor - (value % atom.divisor < 0 ? 1 : 0);
  return atom.kind == Atom::Kind::floor_div ? quotient : value - quotient * atom.divisor;
}

Derived derived_from(const Program& program, Atom::Kind kind, std::uint32_t id) {
  Derived result;
  std::vector<bool> changed(program.atoms.size(), false);
  for (std::uint32_t a = 0; a < program.atoms.size(); ++a) {
    const Atom& atom = program.atoms[a];
    if (atom.kind == kind && atom.id == id) {
      changed[a] = true;
      result.direct.push_back(a);
    } else if (atom.kind == Atom::Kind::floor_div || atom.kind == Atom::Kind::mod) {
      changed[a] = std::any_of(atom.operand.terms.begin(), atom.operand.terms.end(),
                               [&](const Term& t) { return changed[t.atom]; });
      if (changed[a]) result.computed.push_back(a);
    }
  }
  return result;
}

void set(Machine& machine, const Derived& derived, std::int64_t value) {
  for (const std::uint32_t atom : derived.direct) machine.atoms[atom] = value;
  for (const std::uint32_t atom : derived.computed)
    machine.atoms[atom] = compute(machine.program.atoms[atom], machine.atoms);
}

class LoopExec final : public Exec {
 public:
  LoopExec(const Loop& loop, std::uint32_t number, Derived derived, ExecBlock body, std::vector<std::uint32_t> dead)
      : id_(loop.id),
        affine_(!loop.sequential),
        trips_(loop.trips),
        number_(number),
        derived_(std::move(derived)),
        body_(std::move(body)),
        dead_(std::move(dead)) {}
  void run(Machine& machine) override {
    const bool moved = affine_ && machine.order.moves(id_);
    for (std::int64_t k = 0; k < trips_; ++k) {
      machine.trips[number_] = k;  // the first one to run is the first trip, whatever its index
      set(machine, derived_, moved ? machine.order.trip(k, trips_) : k);
      run_block(body_, machine);
      for (const std::uint32_t root : dead_) machine.storages[root].release();
    }
  }

 private:
  std::uint32_t id_;
  bool affine_;
  std::int64_t trips_;
  std::uint32_t number_;
  Derived derived_;
  ExecBlock body_;
  std::vector<std::uint32_t> dead_;  ///< block tensors that no other trip touches where this one did
};

class IfExec final : public Exec {
 public:
  IfExec(const If& branch, ExecBlock then_body, ExecBlock else_body, const Lowering& lowering)
      : space_(lowering.program, lowering.ranges, {1}, padded(branch.conditions)),
        then_(std::move(then_body)),
        else_(std::move(else_body)) {
    space_.layout_fixed();
  }
  void run(Machine& machine) override {
    space_.begin(machine.atoms.data(), machine.values);
    Space::Spans spans;
    run_block(space_.spans(machine.values.data(), 0, spans) != 0 ? then_ : else_, machine);
  }

 private:
  static std::vector<Condition> padded(std::vector<Condition> conditions) {
    for (Condition& condition : conditions) condition.value.slots = {0};
    return conditions;
  }
  Space space_;
  ExecBlock then_, else_;
};

class AllocExec final : public Exec {
 public:
  AllocExec(const Alloc& alloc, bool covered) : buffer_(alloc.buffer), fill_(alloc.fill), covered_(covered) {}
  void run(Machine& machine) override { machine.storages[buffer_].allocate(fill_, covered_); }

 private:
  std::uint32_t buffer_;
  std::optional<double> fill_;
  bool covered_;
};

class Builder {
 public:
  explicit Builder(const Lowering& lowering) : lowering_(lowering), dead_(dead_after_trip(lowering.program)) {
    for (const Atom& atom : lowering.program.atoms) {
      if (atom.kind == Atom::Kind::loop) named_.insert(atom.id);
    }
  }

  ExecBlock block(const Block& nodes) {
    ExecBlock result;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      std::unique_ptr<Exec> exec = std::visit([&](const auto& what) { return one(what, nodes, k); }, nodes[k].what);
      exec->line = nodes[k].line;
      result.push_back(std::move(exec));
    }
    return result;
  }

 private:
  std::unique_ptr<Exec> one(const Loop& loop, const Block&, std::size_t) {
    // A hostile program may hold many more loops than atoms: those without one must cost nothing.
    auto derived = named_.contains(loop.id) ? derived_from(lowering_.program, Atom::Kind::loop, loop.id) : Derived{};
    const auto dead = dead_.find(loop.id);
    return std::make_unique<LoopExec>(loop, lowering_.loop_numbers.at(loop.id), std::move(derived), block(loop.body),
                                      dead == dead_.end() ? std::vector<std::uint32_t>{} : dead->second);
  }
  std::unique_ptr<Exec> one(const If& branch, const Block&, std::size_t) {
    return std::make_unique<IfExec>(branch, block(branch.then_body), block(branch.else_body), lowering_);
  }
  std::unique_ptr<Exec> one(const Alloc& alloc, const Block& nodes, std::size_t at) {
    return std::make_unique<AllocExec>(alloc, !alloc.fill && covered_by_next(alloc.buffer, nodes, at));
  }
  template <class Op>
  std::unique_ptr<Exec> one(const Op& op, const Block&, std::size_t) {
    return lower(op, lowering_);
  }

  bool mentions(const Access& access, std::uint32_t root) const {
    return root_of(lowering_.program, access.buffer) == root || (access.dynamic && mentions(*access.dynamic, root));
  }
  bool mentions(const std::vector<Source>& sources, std::uint32_t root) const {
    return std::any_of(sources.begin(), sources.end(),
                       [&](const Source& s) { return s.kind == Source::Kind::access && mentions(s.access, root); });
  }
  /// The first operation of the same block that touches the buffer writes all of it: poison would not be seen.
  bool covered_by_next(std::uint32_t buffer, const Block& nodes, std::size_t at) const {
    for (std::size_t k = at + 1; k < std::min(nodes.size(), at + kLookAhead); ++k) {
      if (const Map* map = std::get_if<Map>(&nodes[k].what)) {
        if (mentions(map->sources, buffer)) return false;
        if (mentions(map->dst, buffer))
          return map->accumulate == kNoAccumulate && map->head.mask.empty() &&
                 covers(map->dst, buffer, map->head.shape, map->sources);
      } else if (const Fold* fold = std::get_if<Fold>(&nodes[k].what)) {
        if (mentions(fold->sources, buffer)) return false;
        if (mentions(fold->dst, buffer))
          return fold->accumulate == kNoAccumulate && fold->head.mask.empty() &&
                 covers(fold->dst, buffer, fold->head.shape, fold->sources);
      } else if (!std::holds_alternative<Alloc>(nodes[k].what)) {
        return false;  // good enough: no look into loops and rarer operations
      }
    }
    return false;
  }
  bool covers(const Access& dst, std::uint32_t buffer, const std::vector<std::int64_t>& shape,
              const std::vector<Source>& sources) const {
    if (dst.buffer != buffer || dst.dynamic || may_skip(sources)) return false;
    return !covering_axes(lowering_.program, dst, shape).empty();
  }
  static bool may_skip(const std::vector<Source>& sources) {
    return std::any_of(sources.begin(), sources.end(),
                       [](const Source& s) { return s.kind == Source::Kind::access && s.access.skip_out_of_bounds; });
  }

  static constexpr std::size_t kLookAhead = 256;  ///< bounds the work for a program of allocs alone

  const Lowering& lowering_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> dead_;
  std::set<std::uint32_t> named_;  ///< loops that some atom stands for
};

/// Buffers that need a bit an element: outputs, and destinations of accumulating matmuls (the first write overwrites).
void find_tracked(const Program& program, const Block& block, std::set<std::uint32_t>& tracked) {
  for (const Node& node : block) {
    if (const Loop* loop = std::get_if<Loop>(&node.what)) {
      find_tracked(program, loop->body, tracked);
    } else if (const If* branch = std::get_if<If>(&node.what)) {
      find_tracked(program, branch->then_body, tracked);
      find_tracked(program, branch->else_body, tracked);
    } else if (const Matmul* matmul = std::get_if<Matmul>(&node.what); matmul != nullptr && matmul->accumulate) {
      tracked.insert(root_of(program, matmul->dst.buffer));
    }
  }
}

}  // namespace

Executable::Executable(const Program& program, bool leave_out_copies, bool track_all)
    : program_(program), ranges_(program) {
  for (const auto& [id, trips] : ranges_.trips())
    loop_numbers_.emplace(id, static_cast<std::uint32_t>(loop_numbers_.size()));
  try {
    if (leave_out_copies) forwarded_ = forwarded(program, ranges_);
    build(leave_out_copies ? forwarded_ : program);
  } catch (const Error&) {  // a joined index may leave the range that interval arithmetic handles
    build(program);
  }
  std::set<std::uint32_t> tracked;
  find_tracked(program, program.body, tracked);
  granules_.assign(program.buffers.size(), 0);
  std::vector<std::uint32_t> smallest(program.buffers.size(), 8);
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    std::uint32_t& item = smallest[root_of(program, b)];
    item = std::min(item, static_cast<std::uint32_t>(size_of(program.buffers[b].dtype)));
  }
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const bool output = program.buffers[b].kind == BufferKind::output && root_of(program, b) == b;
    if (track_all || output || tracked.contains(b)) granules_[b] = smallest[b];
  }
}

void Executable::build(const Program& program) {
  const Lowering lowering{program, ranges_, loop_numbers_};
  body_ = Builder(lowering).block(program.body);
}

void Executable::prepare(Machine& machine) const {
  machine.trips.assign(loop_numbers_.size(), 0);
  for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const Buffer& buffer = program_.buffers[b];
    if (buffer.alias_of) continue;
    Storage& storage = machine.storages[b];
    const bool on_chip = buffer.kind == BufferKind::sbuf || buffer.kind == BufferKind::psum;
    storage.dtype = buffer.dtype;
    storage.granule = granules_[b];
    storage.tile_bytes = size_of(buffer.dtype);
    for (std::size_t dim = 0; dim < buffer.shape.size(); ++dim) {
      const auto extent = static_cast<std::uint64_t>(buffer.shape[dim]);
      (on_chip && dim < buffer.partition_dim ? storage.blocks : storage.tile_bytes) *= extent;
    }
    if (on_chip || buffer.kind == BufferKind::hbm) storage.prepare();
  }
  for (std::uint32_t a = 0; a < program_.atoms.size(); ++a) {
    const Atom::Kind kind = program_.atoms[a].kind;
    if (kind == Atom::Kind::floor_div || kind == Atom::Kind::mod)
      machine.atoms[a] = compute(program_.atoms[a], machine.atoms);
  }
}

void Executable::run(Machine& machine) const {
  std::vector<Derived> axes;
  std::vector<std::int64_t> at(program_.grid.size(), 0);
  for (std::uint32_t axis = 0; axis < at.size(); ++axis)
    axes.push_back(derived_from(program_, Atom::Kind::program_id, axis));
  for (bool more = true; more;) {
    for (std::size_t axis = 0; axis < at.size(); ++axis) set(machine, axes[axis], at[axis]);
    run_block(body_, machine);
    more = false;
    for (std::size_t axis = at.size(); axis-- > 0 && !more;) {
      more = ++at[axis] < program_.grid[axis];
      if (!more) at[axis] = 0;
    }
  }
}

}  // namespace nkigrid::nkisim
