#include "runner/nkisim/engine/absorb.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "runner/nkisim/program/ranges.hpp"
#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

/// What counts trips: a loop or an axis of the grid.
struct Counter {
  Atom::Kind kind = Atom::Kind::loop;
  std::uint32_t id = 0;
  std::int64_t trips = 1;
};

constexpr std::int64_t kLarge = 1LL << 30;  ///< products of smaller numbers, and sums of them, stay within 64 bits
bool is_small(std::int64_t number) { return number > -kLarge && number < kLarge; }

/// The counter's coefficient in an index; none when an atom is derived, and may hide it.
std::optional<std::int64_t> coefficient_of(const Program& program, const Index& index, const Counter& counter) {
  std::int64_t sum = 0;
  for (const Term& term : index.base.terms) {
    const Atom& atom = program.atoms[term.atom];
    if (atom.kind == Atom::Kind::floor_div || atom.kind == Atom::Kind::mod) return std::nullopt;
    if (atom.kind == counter.kind && atom.id == counter.id && __builtin_add_overflow(sum, term.coefficient, &sum))
      return std::nullopt;
  }
  return is_small(sum) ? std::optional(sum) : std::nullopt;
}

/// Calls f(index) for every index of a map.
template <class AnyMap, class F>
void each_index(AnyMap& map, F f) {
  for (auto& dim : map.dst.dims) f(dim);
  for (auto& source : map.sources) {
    if (source.kind == Source::Kind::index) f(source.index);
    if (source.kind == Source::Kind::access) {
      for (auto& dim : source.access.dims) f(dim);
    }
  }
}

/// Two trips never write one element: in some dimension a trip moves further than a trip's own points reach.
bool writes_apart(const Program& program, const Map& map, const Counter& counter) {
  return std::any_of(map.dst.dims.begin(), map.dst.dims.end(), [&](const Index& dim) {
    const std::int64_t step = *coefficient_of(program, dim, counter);
    std::int64_t reach = 0;
    for (std::size_t axis = 0; axis < dim.slots.size(); ++axis) {
      if (!is_small(dim.slots[axis]) || !is_small(map.head.shape[axis])) return false;
      reach += std::abs(dim.slots[axis]) * (map.head.shape[axis] - 1);
    }
    return std::abs(step) > reach;
  });
}

/// A memory without blocks that is not chosen at run time.
bool is_plain(const Program& program, const Access& access) {
  const Buffer& buffer = program.buffers[access.buffer];
  return !access.dynamic && !(is_on_chip(buffer.kind) && buffer.partition_dim > 0);
}

bool may_absorb(const Program& program, const Map& map, const Counter& counter) {
  if (map.accumulate != kNoAccumulate || !map.loops.empty() || !map.head.mask.empty()) return false;
  if (map.head.shape.size() >= kMaxRank || !is_plain(program, map.dst)) return false;
  bool known = true;
  each_index(map, [&](const Index& index) { known = known && coefficient_of(program, index, counter).has_value(); });
  const std::uint32_t root = root_of(program, map.dst.buffer);
  const bool apart_from_sources = std::all_of(map.sources.begin(), map.sources.end(), [&](const Source& source) {
    return source.kind != Source::Kind::access ||
           (is_plain(program, source.access) && root_of(program, source.access.buffer) != root);
  });
  return known && apart_from_sources && writes_apart(program, map, counter);
}

/// Elements that a step along an axis (or, by `coefficient`, of the counter) moves the destination.
template <class StepOf>
std::uint64_t distance(const Program& program, const Access& dst, StepOf step_of) {
  std::uint64_t moved = 0, stride = 1;
  for (std::size_t dim = dst.dims.size(); dim-- > 0;) {
    moved += static_cast<std::uint64_t>(step_of(dst.dims[dim])) * stride;
    stride *= static_cast<std::uint64_t>(program.buffers[dst.buffer].shape[dim]);
  }
  return std::min(moved, 0 - moved);  // its size, whatever the sign
}

/// The counter becomes an axis, among the others in the order of what they move: neighbours that go on where one
/// another end are joined when the map is made executable.
void absorb(const Program& program, Map& map, const Counter& counter) {
  const std::uint64_t moved =
      distance(program, map.dst, [&](const Index& dim) { return *coefficient_of(program, dim, counter); });
  std::size_t at = 0;
  while (at < map.head.shape.size() &&
         distance(program, map.dst, [&](const Index& dim) { return dim.slots[at]; }) > moved) {
    ++at;
  }
  const auto place = static_cast<std::ptrdiff_t>(at);
  each_index(map, [&](Index& index) {
    index.slots.insert(index.slots.begin() + place, *coefficient_of(program, index, counter));
    std::erase_if(index.base.terms, [&](const Term& term) {
      const Atom& atom = program.atoms[term.atom];
      return atom.kind == counter.kind && atom.id == counter.id;
    });
  });
  map.head.shape.insert(map.head.shape.begin() + place, counter.trips);
}

/// Tiles that forwarding left without a use.
std::set<std::uint32_t> unused_tiles(const Program& program) {
  std::set<std::uint32_t> unused;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    if (is_on_chip(program.buffers[b].kind)) unused.insert(b);
  }
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    if (program.buffers[b].alias_of) unused.erase(root_of(program, b));
  }
  for_each_node(program.body, [&](const Node& node) {
    std::visit(
        [&](const auto& what) {
          if constexpr (requires { what.head; }) {
            for_each_access(what, [&](const Access& access, bool) {
              unused.erase(access.buffer);
              if (access.dynamic) unused.erase(access.dynamic->buffer);
            });
          }
        },
        node.what);
  });
  return unused;
}

class Absorber {
 public:
  explicit Absorber(Program& program) : program_(program), unused_(unused_tiles(program)) {}

  void run() {
    block(program_.body);
    for (std::uint32_t axis = static_cast<std::uint32_t>(program_.grid.size()); axis-- > 0;) {
      Map* map = only_map(program_.body);
      const Counter counter{Atom::Kind::program_id, axis, program_.grid[axis]};
      if (map == nullptr || !may_absorb(program_, *map, counter)) return;
      absorb(program_, *map, counter);
      program_.grid[axis] = 1;
    }
  }

 private:
  void block(Block& nodes) {
    std::erase_if(nodes, [&](const Node& node) {
      const Alloc* alloc = std::get_if<Alloc>(&node.what);
      return alloc != nullptr && unused_.contains(alloc->buffer);
    });
    for (Node& node : nodes) {
      if (If* branch = std::get_if<If>(&node.what)) {
        block(branch->then_body);
        block(branch->else_body);
      }
      Loop* loop = std::get_if<Loop>(&node.what);
      if (loop == nullptr) continue;
      block(loop->body);
      Map* map = only_map(loop->body);
      const Counter counter{Atom::Kind::loop, loop->id, loop->trips};
      if (map == nullptr || loop->trips < 1 || !may_absorb(program_, *map, counter)) continue;
      absorb(program_, *map, counter);
      Node inner = std::move(loop->body.front());
      node = std::move(inner);
    }
  }
  static Map* only_map(Block& nodes) { return nodes.size() == 1 ? std::get_if<Map>(&nodes.front().what) : nullptr; }

  Program& program_;
  std::set<std::uint32_t> unused_;
};

}  // namespace

void absorb_loops(Program& program) { Absorber(program).run(); }

}  // namespace nkigrid::nkisim
