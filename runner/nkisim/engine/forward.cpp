#include "runner/nkisim/engine/forward.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace nkigrid::nkisim {
namespace {

/// What the program does with one root buffer.
struct Usage {
  std::size_t writers = 0;
  std::size_t plain_readers = 0;  ///< sources of maps and folds, proven in bounds
  bool other = false;             ///< any use that cannot be redirected
  std::size_t first = SIZE_MAX;   ///< place of the first use, in program order
};

using Slots = std::vector<std::int64_t>;

/// sum += scale * index; false on overflow.
bool add_scaled(Index& sum, const Index& index, std::int64_t scale) {
  bool bad = false;
  const auto mad = [&](std::int64_t& to, std::int64_t by) {
    std::int64_t product = 0;
    bad = __builtin_mul_overflow(by, scale, &product) || __builtin_add_overflow(to, product, &to) || bad;
  };
  mad(sum.base.constant, index.base.constant);
  for (const Term& term : index.base.terms) {
    auto same =
        std::find_if(sum.base.terms.begin(), sum.base.terms.end(), [&](const Term& t) { return t.atom == term.atom; });
    if (same == sum.base.terms.end()) same = sum.base.terms.insert(same, {term.atom, 0});
    mad(same->coefficient, term.coefficient);
  }
  for (std::size_t k = 0; k < index.slots.size(); ++k) mad(sum.slots[k], index.slots[k]);
  return !bad;
}

class Forwarder {
 public:
  Forwarder(const Program& program, const Ranges& ranges)
      : original_(program), ranges_(ranges), usage_(program.buffers.size()) {
    out_.grid = program.grid;
    out_.atoms = program.atoms;
    for (const Buffer& buffer : program.buffers) {
      Buffer copy;
      copy.kind = buffer.kind;
      copy.dtype = buffer.dtype;
      copy.shape = buffer.shape;
      copy.partition_dim = buffer.partition_dim;
      copy.alias_of = buffer.alias_of;
      out_.buffers.push_back(std::move(copy));
    }
    for (const Buffer& buffer : program.buffers) {
      if (buffer.alias_of) usage_[root_of(program, *buffer.alias_of)].other = true;
    }
    survey(program.body);
    out_.body = block(program.body);
  }
  Program take() { return std::move(out_); }

 private:
  // --- survey
  void survey(const Block& nodes) {
    for (const Node& node : nodes) {
      ++place_;
      std::visit([&](const auto& what) { look(what); }, node.what);
    }
  }
  void look(const Loop& loop) { survey(loop.body); }
  void look(const If& branch) {
    survey(branch.then_body);
    survey(branch.else_body);
  }
  void look(const Alloc&) {}
  void look(const Map& map) {
    write(map.dst);
    for (const Source& source : map.sources) read(source, map.head.shape);
  }
  void look(const Fold& fold) {
    write(fold.dst);
    for (const Source& source : fold.sources) read(source, fold.head.shape);
  }
  void look(const Matmul& matmul) {
    for (const Access* access : {&matmul.dst, &matmul.stationary, &matmul.moving}) keep(*access);
  }
  void look(const Scan& scan) {
    keep(scan.dst);
    for (const Source* source : {&scan.data0, &scan.data1, &scan.initial}) {
      if (source->kind == Source::Kind::access) keep(source->access);
    }
  }
  void look(const SpecialOp& special) {
    for (const Access& access : special.destinations) keep(access);
    for (const Source& source : special.sources) keep(source.access);
  }
  Usage& used(const Access& access) {
    Usage& usage = usage_[root_of(original_, access.buffer)];
    usage.first = std::min(usage.first, place_);
    return usage;
  }
  void keep(const Access& access) {
    used(access).other = true;
    if (access.dynamic) keep(*access.dynamic);
  }
  void write(const Access& access) {
    ++used(access).writers;
    if (access.dynamic) keep(*access.dynamic);
  }
  void read(const Source& source, const std::vector<std::int64_t>& shape) {
    if (source.kind != Source::Kind::access) return;
    Usage& usage = used(source.access);
    if (source.access.dynamic || !proven(source.access, shape)) usage.other = true;
    ++usage.plain_readers;
    if (source.access.dynamic) keep(*source.access.dynamic);
  }
  bool proven(const Access& access, const std::vector<std::int64_t>& shape) const {
    const Buffer& buffer = original_.buffers[access.buffer];
    for (std::size_t dim = 0; dim < access.dims.size(); ++dim) {
      const Range range = ranges_.of(access.dims[dim], shape);
      if (range.lo < 0 || range.hi >= buffer.shape[dim]) return false;
    }
    return true;
  }

  // --- rewrite; places are counted as in the survey
  Block block(const Block& nodes) {
    Block result;
    std::optional<Node> joined;
    const std::size_t base = ++blocks_;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      ++rewritten_;
      const Node& node = nodes[k];
      if (const Alloc* alloc = std::get_if<Alloc>(&node.what)) block_of_[alloc->buffer] = base;
      if (const Map* map = std::get_if<Map>(&node.what); !joined && map != nullptr && is_forwardable_load(*map, base)) {
        loads_[map->dst.buffer] = map;
        continue;
      }
      // A former map that this store ends, or the node itself.
      Node now = joined ? std::move(*joined)
                        : Node{node.line, std::visit([&](const auto& what) { return rewrite(what); }, node.what)};
      joined.reset();
      if (const Map* map = std::get_if<Map>(&now.what)) joined = with_next_store(*map, nodes, k);
      if (joined) {
        // It takes the store's place: the allocs between them come first.
        for (++k; std::holds_alternative<Alloc>(nodes[k].what); ++k) {
          ++rewritten_;
          block_of_[std::get<Alloc>(nodes[k].what).buffer] = base;
          result.push_back(nodes[k]);
        }
        --k;
        continue;
      }
      result.push_back(std::move(now));
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
  What rewrite(const Map& map) {
    Map copy = map;
    for (Source& source : copy.sources) redirect(source);
    return copy;
  }
  What rewrite(const Fold& fold) {
    Fold copy = fold;
    for (Source& source : copy.sources) redirect(source);
    return copy;
  }
  template <class Op>
  What rewrite(const Op& op) {
    return op;
  }

  bool is_plain_copy(const Map& map) const {
    return map.work == Work::raw && map.accumulate == kNoAccumulate && !map.dst.dynamic &&
           !map.sources[0].access.dynamic;
  }

  /// A raw copy of read-only memory over the whole of a tile of this block, before any other use, whose readers can all
  /// be redirected.
  bool is_forwardable_load(const Map& map, std::size_t block) const {
    if (!is_plain_copy(map) || !map.head.mask.empty()) return false;
    const Access& from = map.sources[0].access;
    const BufferKind kind = original_.buffers[from.buffer].kind;
    if (kind != BufferKind::param && kind != BufferKind::constant) return false;
    const std::uint32_t tile = map.dst.buffer;
    const Usage& usage = usage_[tile];
    const auto home = block_of_.find(tile);
    if (original_.buffers[tile].alias_of || usage.other || usage.writers != 1 || usage.first != rewritten_)
      return false;
    if (home == block_of_.end() || home->second != block) return false;
    if (!proven(from, map.head.shape)) return false;
    const std::vector<int> axes = covering_axes(original_, map.dst, map.head.shape);
    if (axes.empty()) return false;
    // Rows of the tile are runs of the source: a transposing load is better done once.
    const int last = static_cast<int>(original_.buffers[tile].shape.size()) - 1;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      if (axes[axis] == last && !from.dims.empty() && from.dims.back().slots[axis] != 1) return false;
    }
    return std::all_of(from.dims.begin(), from.dims.end(), [](const Index& dim) {
      return std::all_of(dim.slots.begin(), dim.slots.end(),
                         [](std::int64_t s) { return s > -(1LL << 30) && s < (1LL << 30); });
    });
  }

  /// The tile's index becomes the index of the memory it was loaded from.
  void redirect(Source& source) const {
    if (source.kind != Source::Kind::access) return;
    const auto load = loads_.find(source.access.buffer);
    if (load == loads_.end()) return;
    const Map& map = *load->second;
    const std::vector<int> axes = covering_axes(original_, map.dst, map.head.shape);
    Access result;
    result.buffer = map.sources[0].access.buffer;
    const std::size_t rank = source.access.dims.empty() ? 0 : source.access.dims[0].slots.size();
    for (const Index& dim : map.sources[0].access.dims) {
      Index index{dim.base, Slots(rank, 0)};
      for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        if (axes[axis] >= 0)
          add_scaled(index, source.access.dims[static_cast<std::size_t>(axes[axis])], dim.slots[axis]);
      }
      result.dims.push_back(std::move(index));
    }
    source.access = std::move(result);
  }

  /// A map over a whole tile that only the next node reads, to store it: one map into the store's destination.
  std::optional<Node> with_next_store(const Map& map, const Block& nodes, std::size_t at) const {
    if (map.accumulate != kNoAccumulate || !map.head.mask.empty() || map.dst.dynamic) return std::nullopt;
    std::size_t next = at + 1;
    while (next < nodes.size() && std::holds_alternative<Alloc>(nodes[next].what)) ++next;
    if (next == nodes.size()) return std::nullopt;
    const Map* store = std::get_if<Map>(&nodes[next].what);
    if (store == nullptr || !is_plain_copy(*store) || store->sources[0].access.buffer != map.dst.buffer)
      return std::nullopt;
    const Usage& usage = usage_[map.dst.buffer];
    const BufferKind kind = original_.buffers[map.dst.buffer].kind;
    const bool tile = kind == BufferKind::sbuf || kind == BufferKind::psum;
    if (!tile || original_.buffers[map.dst.buffer].alias_of || usage.other || usage.writers != 1 ||
        usage.plain_readers != 1)
      return std::nullopt;
    if (map.work == Work::raw && map.sources[0].access.dynamic) return std::nullopt;
    for (const Source& source : map.sources) {
      if (source.kind == Source::Kind::access && source.access.dynamic) return std::nullopt;  // its rows may be skipped
    }
    const std::vector<int> writes = covering_axes(original_, map.dst, map.head.shape);
    const std::vector<int> reads = covering_axes(original_, store->sources[0].access, store->head.shape);
    if (writes.empty() || reads.empty()) return std::nullopt;
    Map joined = map;
    const auto moved = [&](const Index& index) {
      Index result{index.base, Slots(writes.size(), 0)};
      for (std::size_t axis = 0; axis < reads.size(); ++axis) {
        for (std::size_t k = 0; reads[axis] >= 0 && k < writes.size(); ++k) {
          if (writes[k] == reads[axis]) result.slots[k] = index.slots[axis];
        }
      }
      return result;
    };
    joined.dst = store->dst;
    for (Index& dim : joined.dst.dims) dim = moved(dim);
    for (const Condition& condition : store->head.mask)
      joined.head.mask.push_back({condition.kind, moved(condition.value)});
    return Node{nodes[next].line, std::move(joined)};
  }

  const Program& original_;
  const Ranges& ranges_;
  std::vector<Usage> usage_;
  std::size_t place_ = 0, rewritten_ = 0, blocks_ = 0;
  std::map<std::uint32_t, std::size_t> block_of_;  ///< alloc's block
  std::map<std::uint32_t, const Map*> loads_;      ///< forwarded tiles
  Program out_;
};

}  // namespace

std::vector<int> covering_axes(const Program& program, const Access& dst, const std::vector<std::int64_t>& shape) {
  const Buffer& buffer = program.buffers[dst.buffer];
  std::vector<int> axes(shape.size(), -1);
  for (std::size_t dim = 0; dim < buffer.shape.size(); ++dim) {
    const Index& index = dst.dims[dim];
    if (!index.base.terms.empty() || index.base.constant != 0) return {};
    bool found = buffer.shape[dim] == 1;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (index.slots[axis] == 0 || shape[axis] == 1) continue;
      if (index.slots[axis] != 1 || axes[axis] >= 0 || found || shape[axis] != buffer.shape[dim]) return {};
      axes[axis] = static_cast<int>(dim);
      found = true;
    }
    if (!found) return {};
  }
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != 1 && axes[axis] < 0) return {};
  }
  return axes;
}

Program forwarded(const Program& program, const Ranges& ranges) { return Forwarder(program, ranges).take(); }

}  // namespace nkigrid::nkisim
