#include "runner/nkisim/engine/forward.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "runner/nkisim/engine/cover.hpp"
#include "runner/nkisim/engine/usage.hpp"

namespace nkigrid::nkisim {
namespace {

using Slots = std::vector<std::int64_t>;

/// sum += scale * index, wrapping, as all arithmetic of addresses does: what overflows on the way comes out right,
/// since the tile's index was proven in bounds. An index beyond the range of interval arithmetic is refused when the
/// forwarded program is made executable; the original is run then (Executable).
void add_scaled(Index& sum, const Index& index, std::int64_t scale) {
  const auto add = [&](std::int64_t& to, std::int64_t by) {
    std::int64_t product = 0;
    (void)__builtin_mul_overflow(by, scale, &product);
    (void)__builtin_add_overflow(to, product, &to);
  };
  add(sum.base.constant, index.base.constant);
  for (const Term& term : index.base.terms) {
    auto same =
        std::find_if(sum.base.terms.begin(), sum.base.terms.end(), [&](const Term& t) { return t.atom == term.atom; });
    if (same == sum.base.terms.end()) same = sum.base.terms.insert(same, {term.atom, 0});
    add(same->coefficient, term.coefficient);
  }
  for (std::size_t k = 0; k < index.slots.size(); ++k) add(sum.slots[k], index.slots[k]);
}

/// All but the body, without names and data, which no run looks at.
Program declarations_of(const Program& program) {
  Program out;
  out.grid = program.grid;
  out.atoms = program.atoms;
  for (const Buffer& buffer : program.buffers) {
    Buffer& copy = out.buffers.emplace_back();
    copy.kind = buffer.kind;
    copy.dtype = buffer.dtype;
    copy.shape = buffer.shape;
    copy.partition_dim = buffer.partition_dim;
    copy.alias_of = buffer.alias_of;
    copy.root = buffer.root;
  }
  return out;
}

bool is_plain_copy(const Map& map) {
  return map.work == Work::raw && !map.dst.dynamic && map.accumulate == kNoAccumulate && !map.sources[0].access.dynamic;
}

/// Makes the two rewrites in one pass. The survey is of the original program and stays true of what is made: a joined
/// map writes where its store wrote, a redirected source reads memory that nothing writes.
class Forwarder {
 public:
  Forwarder(const Program& program, const Ranges& ranges)
      : original_(program), ranges_(ranges), usage_(usage_of(program, ranges)), out_(declarations_of(program)) {
    out_.body = block(program.body);
  }
  Program take() { return std::move(out_); }

 private:
  Block block(const Block& nodes) {
    Block result;
    std::optional<Node> joined;  // the former map with the store nodes[k] in it: stands for both
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const Map* map = std::get_if<Map>(&nodes[k].what);
      if (!joined && map != nullptr && is_forwardable_load(*map, nodes[k], nodes)) {
        loads_[map->dst.buffer] = map;
        continue;
      }
      Node now = joined
                     ? std::move(*joined)
                     : Node{nodes[k].line, std::visit([&](const auto& what) { return rewrite(what); }, nodes[k].what)};
      joined.reset();
      if (const Map* made = std::get_if<Map>(&now.what)) joined = with_next_store(*made, nodes, k);
      if (!joined) {
        result.push_back(std::move(now));
        continue;
      }
      // It takes the store's place: the allocs between them come first.
      while (std::holds_alternative<Alloc>(nodes[k + 1].what)) result.push_back(nodes[++k]);
    }
    return result;
  }
  using What = decltype(Node::what);
  What rewrite(const Loop& loop) {
    Loop copy{loop.id, loop.sequential, loop.start, loop.step, loop.trips, {}, {}};
    copy.body = block(loop.body);
    return copy;
  }
  What rewrite(const If& branch) {
    If copy;
    copy.conditions = branch.conditions;
    copy.then_body = block(branch.then_body);
    copy.else_body = block(branch.else_body);
    return copy;
  }
  What rewrite(const Map& map) { return redirected(map); }
  What rewrite(const Fold& fold) { return redirected(fold); }
  What rewrite(const Matmul& matmul) {
    Matmul copy = matmul;
    redirect(copy.stationary);
    redirect(copy.moving);
    return copy;
  }
  template <class Op>
  What rewrite(const Op& op) {
    return op;
  }
  template <class Op>
  Op redirected(Op op) const {
    for (Source& source : op.sources) {
      if (source.kind == Source::Kind::access) redirect(source.access);
    }
    return op;
  }

  /// First rewrite: may this load be left out, its readers reading what it reads?
  /// - The memory is read-only for the whole run, so it holds the same when they read as when the load would have.
  /// - The tile is allocated in this very block and the load is its first use: every reader runs after a load in the
  /// same
  ///   pass over the block, under the loop variables that the load's index names.
  /// - The load covers the tile, and nothing else writes it: no reader could see anything but loaded values.
  /// - All readers are maps, folds and matmuls in proven bounds: their views can be composed with the load's.
  bool is_forwardable_load(const Map& map, const Node& node, const Block& nodes) const {
    if (!is_plain_copy(map) || !map.head.mask.empty()) return false;
    const Access& from = map.sources[0].access;
    const BufferKind kind = original_.buffers[from.buffer].kind;
    if (kind != BufferKind::param && kind != BufferKind::constant) return false;
    const std::uint32_t tile = map.dst.buffer;
    const Usage& usage = usage_[tile];
    if (original_.buffers[tile].alias_of || usage.other || usage.writers != 1) return false;
    if (usage.first != &node || usage.home != &nodes) return false;
    if (!is_proven(original_, ranges_, from, map.head.shape)) return false;
    const std::vector<int> axes = covering_axes(original_, map.dst, map.head.shape);
    return !axes.empty() && keeps_rows(map, axes) && std::all_of(from.dims.begin(), from.dims.end(), has_small_slots);
  }
  /// Rows of the tile are runs of the source: a transposing load is better done once than at every reader.
  bool keeps_rows(const Map& load, const std::vector<int>& axes) const {
    const Access& from = load.sources[0].access;
    const int last = static_cast<int>(original_.buffers[load.dst.buffer].shape.size()) - 1;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      if (axes[axis] == last && !from.dims.empty() && from.dims.back().slots[axis] != 1) return false;
    }
    return true;
  }
  /// Products with a reader's slots stay within 64 bits.
  static bool has_small_slots(const Index& dim) {
    return std::all_of(dim.slots.begin(), dim.slots.end(),
                       [](std::int64_t s) { return s > -(1LL << 30) && s < (1LL << 30); });
  }

  /// The tile's index becomes the index of the memory it was loaded from: the load's slot of an axis times the reader's
  /// index of the tile dimension that the axis walks.
  void redirect(Access& access) const {
    const auto load = loads_.find(access.buffer);
    if (load == loads_.end()) return;
    const Map& map = *load->second;
    const std::vector<int> axes = covering_axes(original_, map.dst, map.head.shape);
    Access result;
    result.buffer = map.sources[0].access.buffer;
    const std::size_t rank = access.dims.empty() ? 0 : access.dims[0].slots.size();
    for (const Index& dim : map.sources[0].access.dims) {
      Index index{dim.base, Slots(rank, 0)};
      for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        if (axes[axis] >= 0) add_scaled(index, access.dims[static_cast<std::size_t>(axes[axis])], dim.slots[axis]);
      }
      result.dims.push_back(std::move(index));
    }
    access = std::move(result);
  }

  /// Second rewrite: a map over a whole tile that only the next node reads, to store it, becomes one map into the
  /// store's destination. Nothing comes between them but allocs, so no one can tell; the store copies bits of one
  /// dtype, so the map's own cast to the tile is the cast to the destination.
  std::optional<Node> with_next_store(const Map& map, const Block& nodes, std::size_t at) const {
    if (map.accumulate != kNoAccumulate || !map.head.mask.empty() || map.dst.dynamic) return std::nullopt;
    std::size_t next = at + 1;
    while (next < nodes.size() && std::holds_alternative<Alloc>(nodes[next].what)) ++next;
    if (next == nodes.size()) return std::nullopt;
    const Map* store = std::get_if<Map>(&nodes[next].what);
    if (store == nullptr || !is_plain_copy(*store) || store->sources[0].access.buffer != map.dst.buffer)
      return std::nullopt;
    if (!is_temporary(map.dst.buffer)) return std::nullopt;
    for (const Source& source :
         map.sources) {  // a row that is skipped leaves poison in the tile, which the store copies
      if (source.kind == Source::Kind::access && source.access.dynamic) return std::nullopt;
    }
    const std::vector<int> writes = covering_axes(original_, map.dst, map.head.shape);
    const std::vector<int> reads = covering_axes(original_, store->sources[0].access, store->head.shape);
    if (writes.empty() || reads.empty()) return std::nullopt;
    return Node{nodes[next].line, joined_with(map, writes, *store, reads)};
  }
  /// An on-chip tile of one map and one reader.
  bool is_temporary(std::uint32_t tile) const {
    const Usage& usage = usage_[tile];
    const Buffer& buffer = original_.buffers[tile];
    return is_on_chip(buffer.kind) && !buffer.alias_of && !usage.other && usage.writers == 1 &&
           usage.plain_readers == 1;
  }
  /// The store's destination and mask over the map's axes. `writes`, `reads`: the tile dimension that each of the map's
  /// and of the store's axes walks; they meet there.
  static Map joined_with(const Map& map, const std::vector<int>& writes, const Map& store,
                         const std::vector<int>& reads) {
    const auto moved = [&](const Index& index) {
      Index result{index.base, Slots(writes.size(), 0)};
      for (std::size_t axis = 0; axis < reads.size(); ++axis) {
        for (std::size_t k = 0; reads[axis] >= 0 && k < writes.size(); ++k) {
          if (writes[k] == reads[axis]) result.slots[k] = index.slots[axis];
        }
      }
      return result;
    };
    Map joined = map;
    joined.dst = store.dst;
    for (Index& dim : joined.dst.dims) dim = moved(dim);
    for (const Condition& condition : store.head.mask)
      joined.head.mask.push_back({condition.kind, moved(condition.value)});
    return joined;
  }

  const Program& original_;
  const Ranges& ranges_;
  std::vector<Usage> usage_;
  std::map<std::uint32_t, const Map*> loads_;  ///< that are left out, by tile
  Program out_;
};

}  // namespace

Program forwarded(const Program& program, const Ranges& ranges) { return Forwarder(program, ranges).take(); }

}  // namespace nkigrid::nkisim
