#include "runner/nkisim/program/liveness.hpp"

#include <algorithm>
#include <optional>

#include "runner/nkisim/program/ranges.hpp"
#include "runner/nkisim/program/walk.hpp"

// A kernel may declare a block tensor of gigabytes and touch a block a trip. It runs in the memory of a few blocks when
// each trip's are given back. The proof is by form alone: all accesses of the tensor name its blocks by the same affine
// index, and a loop whose variable stands alone in one dimension of that index never comes to a block twice.
namespace nkigrid::nkisim {
namespace {

/// What all accesses of one block tensor have in common.
struct BlockUse {
  bool excluded = false;        ///< an alias, an indirect access: another index may reach the same blocks
  std::size_t alloc_depth = 0;  ///< loops around its alloc
  std::optional<std::vector<const Loop*>>
      common;                               ///< loops around all of its accesses, outermost first; none: no access
  std::vector<std::optional<Affine>> dims;  ///< the block index by block dimension; none: the accesses differ
};

/// The index where no axis of the operation moves it: one block a run of the operation.
std::optional<Affine> fixed(const Index& index) {
  const bool walks = std::any_of(index.slots.begin(), index.slots.end(), [](std::int64_t s) { return s != 0; });
  return walks ? std::nullopt : std::optional(index.base);
}

class BlockSurvey {
 public:
  explicit BlockSurvey(const Program& program) : program_(program), uses_(program.buffers.size()) {
    for (const Buffer& buffer : program.buffers) {
      if (buffer.alias_of) uses_[root_of(program, *buffer.alias_of)].excluded = true;
    }
    block(program.body);
  }
  const std::vector<BlockUse>& uses() const { return uses_; }

 private:
  void block(const Block& nodes) {
    for (const Node& node : nodes) std::visit([&](const auto& what) { look(what); }, node.what);
  }
  void look(const Loop& loop) {
    loops_.push_back(&loop);
    block(loop.body);
    loops_.pop_back();
  }
  void look(const If& branch) {
    block(branch.then_body);
    block(branch.else_body);
  }
  void look(const Alloc& alloc) { uses_[alloc.buffer].alloc_depth = loops_.size(); }
  template <class Op>
  void look(const Op& op) {
    for_each_access(op, [&](const Access& each, bool) { access(each); });
  }
  void access(const Access& access) {
    const Buffer& buffer = program_.buffers[access.buffer];
    BlockUse& use = uses_[access.buffer];
    if (access.dynamic) {
      use.excluded = true;
      this->access(*access.dynamic);
    }
    if (!use.common) {
      use.common = loops_;
      for (std::size_t dim = 0; dim < buffer.partition_dim; ++dim) use.dims.push_back(fixed(access.dims[dim]));
      return;
    }
    meet(use, access);
  }
  /// Keeps what holds for this access too. Shared loops are shared from the outside in.
  void meet(BlockUse& use, const Access& access) const {
    std::size_t shared = 0;
    while (shared < use.common->size() && shared < loops_.size() && (*use.common)[shared] == loops_[shared]) ++shared;
    use.common->resize(shared);
    for (std::size_t dim = 0; dim < use.dims.size(); ++dim) {
      const auto other = fixed(access.dims[dim]);
      if (use.dims[dim] != other) use.dims[dim].reset();
    }
  }

  const Program& program_;
  std::vector<BlockUse> uses_;
  std::vector<const Loop*> loops_;  ///< open ones
};

/// Is a block dimension `coefficient * loop + constant` in all accesses? Two trips never meet there. One term only:
/// with a second loop in it, other values of that one could bring a later trip to the same block.
bool stands_alone(const Program& program, const std::optional<Affine>& dim, const Loop& loop) {
  if (!dim || dim->terms.size() != 1 || dim->terms[0].coefficient == 0) return false;
  const Atom& atom = program.atoms[dim->terms[0].atom];
  return atom.kind == Atom::Kind::loop && atom.id == loop.id;
}

/// From the alloc inwards, as long as each loop's trips keep to blocks of their own: a trip of the innermost such loop
/// has its blocks to itself among all trips of all of them. Loops outside the alloc do not matter: an alloc is fresh.
Home home_of(const Program& program, const Buffer& buffer, const BlockUse& use) {
  Home home{nullptr, static_cast<std::int64_t>(size_of(buffer.dtype))};
  for (const std::int64_t extent : buffer.shape) home.bytes *= extent;
  if (!is_on_chip(buffer.kind) || buffer.partition_dim == 0 || use.excluded || !use.common) return home;
  const auto& loops = *use.common;
  for (std::size_t depth = use.alloc_depth; depth < loops.size(); ++depth) {
    std::int64_t parts = 1;
    for (std::size_t dim = 0; dim < use.dims.size(); ++dim) {
      if (stands_alone(program, use.dims[dim], *loops[depth])) parts *= buffer.shape[dim];
    }
    if (parts == 1 && loops[depth]->trips > 1) break;
    home = {loops[depth], home.bytes / parts};
  }
  return home;
}

}  // namespace

std::vector<Home> homes_of(const Program& program) {
  const BlockSurvey survey(program);
  std::vector<Home> homes(program.buffers.size());
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    if (!program.buffers[b].alias_of) homes[b] = home_of(program, program.buffers[b], survey.uses()[b]);
  }
  return homes;
}

std::map<std::uint32_t, std::vector<std::uint32_t>> dead_after_trip(const Program& program) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> result;
  const std::vector<Home> homes = homes_of(program);
  for (std::uint32_t b = 0; b < homes.size(); ++b) {
    if (homes[b].loop != nullptr) result[homes[b].loop->id].push_back(b);
  }
  return result;
}

}  // namespace nkigrid::nkisim
