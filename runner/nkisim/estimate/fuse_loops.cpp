#include "runner/nkisim/estimate/fuse_loops.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "runner/nkisim/program/ranges.hpp"
#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr std::size_t kFusionReach = 8;           ///< nodes from a loop back to the one that it joins
constexpr std::size_t kMostSurveyed = 1'000'000;  ///< accesses; a program of 64 levels is looked at at each

/// A part of a tensor that a trip has to itself: `coefficient * loop + constant` in one dimension.
struct Part {
  std::int64_t coefficient = 0, constant = 0;
  bool operator==(const Part&) const = default;
};

/// What all accesses of a tensor say of the trips of one loop.
struct TensorUse {
  bool written = false;
  std::vector<std::optional<Part>> parts;  ///< by dimension; none: the accesses differ, or reach over trips
};
using Uses = std::map<std::uint32_t, TensorUse>;  ///< by root buffer

std::optional<Part> part_of(const Program& program, const Access& access, std::size_t dim, std::uint32_t loop) {
  const Index& index = access.dims[dim];
  const bool walks = std::any_of(index.slots.begin(), index.slots.end(), [](std::int64_t slot) { return slot != 0; });
  if (walks || index.base.terms.size() != 1 || access.dynamic) return std::nullopt;
  const Atom& atom = program.atoms[index.base.terms[0].atom];
  if (atom.kind != Atom::Kind::loop || atom.id != loop) return std::nullopt;
  return Part{index.base.terms[0].coefficient, index.base.constant};
}

TensorUse met(const TensorUse& one, const TensorUse& other) {
  TensorUse both{one.written || other.written, {}};
  for (std::size_t dim = 0; dim < std::min(one.parts.size(), other.parts.size()); ++dim)
    both.parts.push_back(one.parts[dim] == other.parts[dim] ? one.parts[dim] : std::nullopt);
  return both;
}

class UseSurvey {
 public:
  UseSurvey(const Program& program, const Node& node) : program_(program), loop_(std::get_if<Loop>(&node.what)) {
    look(node);
    if (loop_ != nullptr) block(loop_->body);
    if (const If* branch = std::get_if<If>(&node.what)) {
      block(branch->then_body);
      block(branch->else_body);
    }
  }
  const Uses& uses() const { return uses_; }
  std::size_t accesses() const { return accesses_; }

 private:
  void block(const Block& nodes) {
    for_each_node(nodes, [&](const Node& node) { look(node); });
  }
  void look(const Node& node) {
    on_operation(node, [&](const auto& op) {
      for_each_access(op, [&](const Access& access, bool written) {
        add(access, written);
        if (access.dynamic) add(*access.dynamic, false);
      });
    });
  }
  void add(const Access& access, bool written) {
    ++accesses_;
    TensorUse use{written, {}};
    const bool plain = loop_ != nullptr && !program_.buffers[access.buffer].alias_of;
    for (std::size_t dim = 0; plain && dim < access.dims.size(); ++dim)
      use.parts.push_back(part_of(program_, access, dim, loop_->id));
    const auto [found, fresh] = uses_.try_emplace(root_of(program_, access.buffer), use);
    if (!fresh) found->second = met(found->second, use);
  }

  const Program& program_;
  const Loop* loop_;
  Uses uses_;
  std::size_t accesses_ = 0;
};

enum class Meeting : std::uint8_t { none, by_trip, otherwise };

/// Over the tensors that both use and one of them writes.
Meeting meeting_of(const Uses& one, const Uses& other) {
  Meeting meeting = Meeting::none;
  for (const auto& [buffer, use] : one) {
    const auto found = other.find(buffer);
    if (found == other.end() || !(use.written || found->second.written)) continue;
    const std::vector<std::optional<Part>> parts = met(use, found->second).parts;
    if (std::none_of(parts.begin(), parts.end(), [](const auto& part) { return part.has_value(); }))
      return Meeting::otherwise;
    meeting = Meeting::by_trip;
  }
  return meeting;
}

bool equal_trips(const Node& one, const Node& other) {
  const Loop *a = std::get_if<Loop>(&one.what), *b = std::get_if<Loop>(&other.what);
  return a != nullptr && b != nullptr && a->trips == b->trips && a->start == b->start && a->step == b->step;
}

/// Goes over each block once and looks back a few nodes from each loop: a program costs its size, however it is made.
class Fuser {
 public:
  explicit Fuser(const Program& program) : program_(program) {}

  void block(Block& nodes) {
    Block done;
    std::vector<std::optional<Uses>> uses;  // of the nodes in `done`, as far as somebody asked
    for (Node& node : nodes) {
      std::optional<Uses> mine;
      if (joins(done, uses, node, mine)) continue;
      done.push_back(std::move(node));
      uses.push_back(std::move(mine));
    }
    nodes = std::move(done);
    for (Node& node : nodes) inside(node);
  }
  /// Loop ids: joined -> the one that it is part of.
  const std::map<std::uint32_t, std::uint32_t>& joined() const { return joined_; }

 private:
  /// One of the last nodes? @param mine the node's uses, if they were asked for
  bool joins(Block& done, std::vector<std::optional<Uses>>& uses, Node& node, std::optional<Uses>& mine) {
    for (std::size_t back = 1; back <= std::min(kFusionReach, done.size()); ++back) {
      const std::size_t at = done.size() - back;
      if (!equal_trips(done[at], node) || surveyed_ > kMostSurveyed) continue;
      if (!mine) mine = surveyed(node);
      if (meeting_of(known(done, uses, at), *mine) != Meeting::by_trip || !may_sink(done, uses, at)) continue;
      sink(done, uses, at);
      join(done.back(), *uses.back(), node, *mine);
      return true;
    }
    return false;
  }
  void inside(Node& node) {
    if (Loop* loop = std::get_if<Loop>(&node.what)) block(loop->body);
    if (If* branch = std::get_if<If>(&node.what)) {
      block(branch->then_body);
      block(branch->else_body);
    }
  }
  Uses surveyed(const Node& node) {
    const UseSurvey survey(program_, node);
    surveyed_ += survey.accesses();
    return survey.uses();
  }
  const Uses& known(const Block& done, std::vector<std::optional<Uses>>& uses, std::size_t at) {
    if (!uses[at]) uses[at] = surveyed(done[at]);
    return *uses[at];
  }
  /// May a loop follow all that follows it?
  bool may_sink(const Block& done, std::vector<std::optional<Uses>>& uses, std::size_t at) {
    for (std::size_t k = at + 1; k < done.size(); ++k) {
      if (meeting_of(known(done, uses, at), known(done, uses, k)) != Meeting::none) return false;
    }
    return true;
  }
  static void sink(Block& done, std::vector<std::optional<Uses>>& uses, std::size_t at) {
    const auto to_end = [at](auto& list) {
      const auto first = list.begin() + static_cast<std::ptrdiff_t>(at);
      std::rotate(first, first + 1, list.end());
    };
    to_end(done);
    to_end(uses);
  }
  void join(Node& one, Uses& uses, Node& other, const Uses& others) {
    Loop &loop = std::get<Loop>(one.what), &second = std::get<Loop>(other.what);
    joined_[second.id] = loop.id;
    for (Node& node : second.body) loop.body.push_back(std::move(node));
    for (const auto& [buffer, use] : others) {
      const auto [found, fresh] = uses.try_emplace(buffer, use);
      if (!fresh) found->second = met(found->second, use);
    }
  }

  const Program& program_;
  std::map<std::uint32_t, std::uint32_t> joined_;
  std::size_t surveyed_ = 0;
};

/// Joined loops' atoms are the joint loop's: one atom, so that who compares indices as they are written finds them
/// equal.
void unify_atoms(Program& program, const std::map<std::uint32_t, std::uint32_t>& joined) {
  std::map<std::uint32_t, std::uint32_t> first;  // by loop id
  std::vector<std::uint32_t> unified(program.atoms.size());
  for (std::uint32_t a = 0; a < program.atoms.size(); ++a) {
    Atom& atom = program.atoms[a];
    unified[a] = a;
    if (atom.kind != Atom::Kind::loop) continue;
    if (const auto found = joined.find(atom.id); found != joined.end()) atom.id = found->second;
    unified[a] = first.try_emplace(atom.id, a).first->second;
  }
  rewrite_accesses(program, [&](Access& access) {
    for (Index& dim : access.dims) {
      for (Term& term : dim.base.terms) term.atom = unified[term.atom];
    }
  });
}

}  // namespace

void fuse_loops(Program& program) {
  Fuser fuser(program);
  fuser.block(program.body);
  if (!fuser.joined().empty()) unify_atoms(program, fuser.joined());
}

}  // namespace nkigrid::nkisim
