#include "runner/nkisim/estimate/fuse_loops.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "runner/nkisim/program/ranges.hpp"
#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr std::size_t kFusionReach = 8;  ///< nodes from a loop to the one that joins it

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

class Fuser {
 public:
  explicit Fuser(Program& program) : program_(program) {}

  void block(Block& nodes) {
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if (!std::holds_alternative<Loop>(nodes[k].what)) continue;
      Uses uses = UseSurvey(program_, nodes[k]).uses();
      while (join_next(nodes, k, uses)) {
      }
    }
    for (Node& node : nodes) {
      if (Loop* loop = std::get_if<Loop>(&node.what)) block(loop->body);
      if (If* branch = std::get_if<If>(&node.what)) {
        block(branch->then_body);
        block(branch->else_body);
      }
    }
  }

 private:
  /// @param at the loop, and its uses: both follow it
  bool join_next(Block& nodes, std::size_t& at, Uses& uses) {
    for (std::size_t k = at + 1; k < std::min(nodes.size(), at + 1 + kFusionReach); ++k) {
      const Uses others = UseSurvey(program_, nodes[k]).uses();
      const Meeting meeting = meeting_of(uses, others);
      const Loop* other = std::get_if<Loop>(&nodes[k].what);
      if (other != nullptr && meeting == Meeting::by_trip && equal_trips(std::get<Loop>(nodes[at].what), *other)) {
        for (const auto& [buffer, use] : others) {
          const auto [found, fresh] = uses.try_emplace(buffer, use);
          if (!fresh) found->second = met(found->second, use);
        }
        join(nodes, at, k);
        return true;
      }
      if (meeting != Meeting::none) return false;
    }
    return false;
  }
  static bool equal_trips(const Loop& one, const Loop& other) {
    return one.trips == other.trips && one.start == other.start && one.step == other.step;
  }

  void join(Block& nodes, std::size_t& at, std::size_t k) {
    Loop other = std::move(std::get<Loop>(nodes[k].what));
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(k));
    const auto first = nodes.begin() + static_cast<std::ptrdiff_t>(at);
    std::rotate(first, first + 1, nodes.begin() + static_cast<std::ptrdiff_t>(k));
    at = k - 1;
    Loop& loop = std::get<Loop>(nodes[at].what);
    for (Atom& atom : program_.atoms) {
      if (atom.kind == Atom::Kind::loop && atom.id == other.id) atom.id = loop.id;
    }
    for (Node& node : other.body) loop.body.push_back(std::move(node));
  }

  Program& program_;
};

/// A loop has one atom, so that who compares indices as they are written finds those of joined loops equal.
void unify_atoms(Program& program) {
  std::map<std::uint32_t, std::uint32_t> first;  // by loop id
  std::vector<std::uint32_t> unified(program.atoms.size());
  for (std::uint32_t a = 0; a < program.atoms.size(); ++a) {
    const Atom& atom = program.atoms[a];
    unified[a] = atom.kind == Atom::Kind::loop ? first.try_emplace(atom.id, a).first->second : a;
  }
  rewrite_accesses(program, [&](Access& access) {
    for (Index& dim : access.dims) {
      for (Term& term : dim.base.terms) term.atom = unified[term.atom];
    }
  });
}

}  // namespace

void fuse_loops(Program& program) {
  Fuser(program).block(program.body);
  unify_atoms(program);
}

}  // namespace nkigrid::nkisim
