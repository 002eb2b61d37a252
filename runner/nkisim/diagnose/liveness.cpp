#include "runner/nkisim/diagnose/liveness.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "runner/nkisim/program/ranges.hpp"

namespace nkigrid::nkisim {
namespace {

/// The accesses of one block tensor.
struct Use {
  bool excluded = false;                           ///< an alias, an indirect access, no alloc in sight
  std::size_t alloc_depth = 0;                     ///< loops around its alloc
  std::optional<std::vector<const Loop*>> common;  ///< loops around all of its accesses, outermost first
  std::vector<std::optional<Affine>>
      dims;  ///< block index that all accesses share, by block dimension; none: they differ
};

bool same(const Affine& a, const Affine& b) {
  return a.constant == b.constant &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
                    [](const Term& x, const Term& y) { return x.atom == y.atom && x.coefficient == y.coefficient; });
}

class Survey {
 public:
  explicit Survey(const Program& program) : program_(program), uses_(program.buffers.size()) {
    for (const Buffer& buffer : program.buffers) {
      if (buffer.alias_of) uses_[root_of(program, *buffer.alias_of)].excluded = true;
    }
    block(program.body);
  }
  const std::vector<Use>& uses() const { return uses_; }

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
  void look(const Map& map) { expression(map); }
  void look(const Fold& fold) { expression(fold); }
  template <class Op>
  void expression(const Op& op) {
    access(op.dst);
    for (const Source& source : op.sources) look(source);
  }
  void look(const Matmul& matmul) {
    for (const Access* each : {&matmul.dst, &matmul.stationary, &matmul.moving}) access(*each);
  }
  void look(const Scan& scan) {
    access(scan.dst);
    for (const Source* source : {&scan.data0, &scan.data1, &scan.initial}) look(*source);
  }
  void look(const SpecialOp& special) {
    for (const Access& each : special.destinations) access(each);
    for (const Source& source : special.sources) look(source);
  }
  void look(const Source& source) {
    if (source.kind == Source::Kind::access) access(source.access);
  }
  void access(const Access& access) {
    const Buffer& buffer = program_.buffers[access.buffer];
    Use& use = uses_[access.buffer];
    if (access.dynamic) {
      use.excluded = true;
      this->access(*access.dynamic);
    }
    if (!use.common) {
      use.common = loops_;
      for (std::size_t dim = 0; dim < buffer.partition_dim; ++dim) use.dims.push_back(fixed(access.dims[dim]));
      return;
    }
    std::size_t shared = 0;
    while (shared < use.common->size() && shared < loops_.size() && (*use.common)[shared] == loops_[shared]) ++shared;
    use.common->resize(shared);
    for (std::size_t dim = 0; dim < use.dims.size(); ++dim) {
      const auto other = fixed(access.dims[dim]);
      if (use.dims[dim] && (!other || !same(*use.dims[dim], *other))) use.dims[dim].reset();
    }
  }
  static std::optional<Affine> fixed(const Index& index) {
    const bool walks = std::any_of(index.slots.begin(), index.slots.end(), [](std::int64_t s) { return s != 0; });
    return walks ? std::nullopt : std::optional(index.base);
  }

  const Program& program_;
  std::vector<Use> uses_;
  std::vector<const Loop*> loops_;
};

/// Some block dimension is `coefficient * loop + constant` in all accesses: two trips never meet there.
bool tells_trips_apart(const Program& program, const Use& use, const Loop& loop) {
  return loop.trips < 2 || std::any_of(use.dims.begin(), use.dims.end(), [&](const std::optional<Affine>& dim) {
           if (!dim || dim->terms.size() != 1 || dim->terms[0].coefficient == 0) return false;
           const Atom& atom = program.atoms[dim->terms[0].atom];
           return atom.kind == Atom::Kind::loop && atom.id == loop.id;
         });
}

}  // namespace

std::map<std::uint32_t, std::vector<std::uint32_t>> dead_after_trip(const Program& program) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> result;
  const Survey survey(program);
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    const Use& use = survey.uses()[b];
    const bool on_chip = buffer.kind == BufferKind::sbuf || buffer.kind == BufferKind::psum;
    if (!on_chip || buffer.alias_of || buffer.partition_dim == 0 || use.excluded || !use.common) continue;
    const auto& loops = *use.common;
    // From the alloc inwards, as long as each loop's trips keep to blocks of their own.
    std::size_t depth = use.alloc_depth;
    while (depth < loops.size() && tells_trips_apart(program, use, *loops[depth])) ++depth;
    if (depth > use.alloc_depth) result[loops[depth - 1]->id].push_back(b);
  }
  return result;
}

}  // namespace nkigrid::nkisim
