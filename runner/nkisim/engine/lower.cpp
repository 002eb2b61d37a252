#include "runner/nkisim/engine/lower.hpp"

#include <algorithm>
#include <set>

#include "jobs/base/error.hpp"
#include "runner/nkisim/engine/absorb.hpp"
#include "runner/nkisim/engine/control.hpp"
#include "runner/nkisim/engine/cover.hpp"
#include "runner/nkisim/engine/forward.hpp"
#include "runner/nkisim/engine/machine.hpp"
#include "runner/nkisim/program/liveness.hpp"
#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

/// One node of the tree for one node of the program, in the same order: faults and diagnoses count on the lines.
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
    // An atom set takes a pass over all atoms. A hostile program may hold many more loops than atoms, so a loop that no
    // atom names gets none without a look: the sum stays below loops + atoms^2.
    AtomSet atoms = named_.contains(loop.id) ? AtomSet(lowering_.program, Atom::Kind::loop, loop.id) : AtomSet();
    const auto dead = dead_.find(loop.id);
    return make_loop(loop, lowering_.loop_numbers.at(loop.id), std::move(atoms), block(loop.body),
                     dead == dead_.end() ? std::vector<std::uint32_t>{} : dead->second);
  }
  std::unique_ptr<Exec> one(const If& branch, const Block&, std::size_t) {
    return make_branch(branch, block(branch.then_body), block(branch.else_body), lowering_);
  }
  std::unique_ptr<Exec> one(const Alloc& alloc, const Block& nodes, std::size_t at) {
    return make_alloc(alloc, alloc.fill ? std::nullopt : unseen_while(lowering_.program, alloc.buffer, nodes, at));
  }
  template <class Op>
  std::unique_ptr<Exec> one(const Op& op, const Block&, std::size_t) {
    return lower(op, lowering_);
  }

  const Lowering& lowering_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> dead_;
  std::set<std::uint32_t> named_;  ///< loops that some atom stands for
};

/// Buffers whose meaning depends on what was written: the destinations of accumulating matmuls, whose first write
/// overwrites. (Outputs are tracked too, for the report and their poison.)
std::set<std::uint32_t> first_write_matters(const Program& program) {
  std::set<std::uint32_t> result;
  for_each_node(program.body, [&](const Node& node) {
    const Matmul* matmul = std::get_if<Matmul>(&node.what);
    if (matmul != nullptr && matmul->accumulate) result.insert(root_of(program, matmul->dst.buffer));
  });
  return result;
}

/// By root buffer: the smallest element that it or an alias of it has. A bit of a written-bitmap stands for so many
/// bytes: every write through any dtype is whole bits.
std::vector<std::uint32_t> smallest_items(const Program& program) {
  std::vector<std::uint32_t> smallest(program.buffers.size(), 8);
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    std::uint32_t& item = smallest[root_of(program, b)];
    item = std::min(item, static_cast<std::uint32_t>(size_of(program.buffers[b].dtype)));
  }
  return smallest;
}

}  // namespace

Executable::Executable(const Program& program, bool leave_out_copies, bool track_all)
    : program_(program), ranges_(program) {
  for (const auto& [id, trips] : ranges_.trips())
    loop_numbers_.emplace(id, static_cast<std::uint32_t>(loop_numbers_.size()));
  try {
    if (leave_out_copies) {
      forwarded_ = forwarded(program, ranges_);
      absorb_loops(forwarded_);
    }
    build(leave_out_copies ? forwarded_ : program);
  } catch (const Error&) {
    // An index that forwarding joined may leave the range that interval arithmetic handles. The program is valid, so
    // its own indices do not.
    build(program);
  }
  const std::set<std::uint32_t> tracked = first_write_matters(program);
  const std::vector<std::uint32_t> smallest = smallest_items(program);
  granules_.assign(program.buffers.size(), 0);
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const bool output = program.buffers[b].kind == BufferKind::output && root_of(program, b) == b;
    if (track_all || output || tracked.contains(b)) granules_[b] = smallest[b];
  }
}

void Executable::build(const Program& program) {
  const Lowering lowering{program, ranges_, loop_numbers_};
  body_ = Builder(lowering).block(program.body);
  grid_ = program.grid;
}

void Executable::prepare(Machine& machine) const {
  machine.trips.assign(loop_numbers_.size(), 0);
  for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const Buffer& buffer = program_.buffers[b];
    if (buffer.alias_of) continue;
    Storage& storage = machine.storages[b];
    const bool on_chip = is_on_chip(buffer.kind);
    storage.dtype = buffer.dtype;
    storage.granule = granules_[b];
    storage.tile_bytes = size_of(buffer.dtype);
    for (std::size_t dim = 0; dim < buffer.shape.size(); ++dim) {
      const auto extent = static_cast<std::uint64_t>(buffer.shape[dim]);
      (on_chip && dim < buffer.partition_dim ? storage.blocks : storage.tile_bytes) *= extent;
    }
    if (on_chip || buffer.kind == BufferKind::hbm) storage.prepare();
  }
  // Those of constants alone have their value from here on; loops and program ids, all 0 now, set the others.
  for (std::uint32_t a = 0; a < program_.atoms.size(); ++a) {
    const Atom::Kind kind = program_.atoms[a].kind;
    if (kind == Atom::Kind::floor_div || kind == Atom::Kind::mod)
      machine.atoms[a] = derived_value(program_.atoms[a], machine.atoms);
  }
}

void Executable::run(Machine& machine) const {
  std::vector<AtomSet> axes;
  std::vector<std::int64_t> at(grid_.size(), 0);
  for (std::uint32_t axis = 0; axis < at.size(); ++axis) axes.emplace_back(program_, Atom::Kind::program_id, axis);
  for (bool more = true; more;) {
    for (std::size_t axis = 0; axis < at.size(); ++axis) axes[axis].set(program_, machine.atoms, at[axis]);
    run_block(body_, machine);
    more = false;  // to the next instance: the last axis that has one more moves, those after it begin again
    for (std::size_t axis = at.size(); axis-- > 0 && !more;) {
      more = ++at[axis] < grid_[axis];
      if (!more) at[axis] = 0;
    }
  }
}

}  // namespace nkigrid::nkisim
