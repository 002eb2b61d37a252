#include "runner/nkisim/program/validate_declarations.hpp"

#include <set>

#include <fmt/format.h>

namespace nkigrid::nkisim {
namespace {

constexpr std::int64_t kMaxExtent = 1LL << 40;
constexpr std::int64_t kSbufBytes = 176 << 10, kPsumBytes = 16 << 10;  // a partition

struct Size {
  std::int64_t blocks = 1, tile_bytes = 0;
  bool operator==(const Size&) const = default;
};

Size size_in_memory(const Buffer& buffer) {
  const bool chip = is_on_chip(buffer.kind);
  const auto split = buffer.shape.begin() + (chip ? buffer.partition_dim : 0);
  return {checked_product({buffer.shape.begin(), split}),
          checked_product({split, buffer.shape.end()}, static_cast<std::int64_t>(size_of(buffer.dtype)))};
}

class Declarations {
 public:
  explicit Declarations(ValidateState& state) : state_(state) {}
  void buffers();
  void interface_lists();
  void atoms();

 private:
  void one_buffer(std::uint32_t id);
  void alias(std::uint32_t id);

  ValidateState& state_;
};

void Declarations::buffers() {
  if (state_.program.buffers.size() > kMaxBuffers) state_.fail("too many buffers");
  if (constant_bytes(state_.program) > kMaxConstantBytes)
    state_.fail(fmt::format("constants of more than {} bytes", kMaxConstantBytes));
  state_.allocated.assign(state_.program.buffers.size(), false);
  state_.has_alloc = state_.written = state_.allocated;
  for (std::uint32_t id = 0; id < state_.program.buffers.size(); ++id) {
    state_.line = state_.buffer(id).line;
    one_buffer(id);
  }
  state_.line = 0;
}

void Declarations::one_buffer(std::uint32_t id) {
  const Buffer& what = state_.buffer(id);
  if (what.shape.size() > kMaxRank)
    state_.fail(fmt::format("'{}' has rank {} (at most {})", what.name, what.shape.size(), kMaxRank));
  for (const std::int64_t extent : what.shape) {
    if (extent < 1 || extent > kMaxExtent)
      state_.fail(fmt::format("'{}' has extent {} (legal: 1 to 2^40)", what.name, extent));
  }
  checked_product(what.shape, static_cast<std::int64_t>(size_of(what.dtype)));
  if (state_.on_chip(id) ? what.partition_dim >= what.shape.size() : what.partition_dim != 0) {
    state_.fail(fmt::format("'{}' has a wrong partition dimension", what.name));
  }
  if (what.alias_of) return alias(id);
  const Size size = size_in_memory(what);
  if (what.kind == BufferKind::constant && what.data.size() != static_cast<std::size_t>(size.tile_bytes)) {
    state_.fail(
        fmt::format("constant '{}' has {} bytes (its shape says {})", what.name, what.data.size(), size.tile_bytes));
  }
  if (!state_.on_chip(id)) return;
  const std::int64_t partitions = what.shape[what.partition_dim];
  if (partitions > kPartitions) {
    state_.fail(fmt::format("'{}' has {} partitions (at most {})", what.name, partitions, kPartitions));
  }
  const std::int64_t most = what.kind == BufferKind::sbuf ? kSbufBytes : kPsumBytes;
  if (size.tile_bytes / partitions > most) {
    state_.fail(
        fmt::format("'{}' takes {} bytes a partition (at most {})", what.name, size.tile_bytes / partitions, most));
  }
}

void Declarations::alias(std::uint32_t id) {
  const Buffer& what = state_.buffer(id);
  if (*what.alias_of >= id) state_.fail(fmt::format("'{}' is an alias of a later buffer", what.name));
  const Buffer& root = state_.buffer(root_of(state_.program, id));
  if (root.kind != what.kind) state_.fail(fmt::format("alias '{}' is in another memory than its buffer", what.name));
  if (!what.data.empty()) state_.fail(fmt::format("alias '{}' carries data", what.name));
  if (state_.on_chip(id) && what.shape[what.partition_dim] > kPartitions)
    state_.fail(fmt::format("'{}' has more than 128 partitions", what.name));
  if (!(size_in_memory(what) == size_in_memory(root)))
    state_.fail(fmt::format("alias '{}' has another size than its buffer", what.name));
}

void Declarations::interface_lists() {
  std::set<std::uint32_t> seen;
  for (const std::uint32_t id : state_.program.params) {
    const bool good = id < state_.program.buffers.size() && state_.buffer(id).kind == BufferKind::param &&
                      !state_.buffer(id).alias_of;
    if (!good || !seen.insert(id).second)
      state_.fail("the parameter list names a buffer that is no parameter, or one twice");
  }
  if (state_.program.outputs.empty()) state_.fail("the kernel returns no output");
  for (const std::uint32_t id : state_.program.outputs) {
    if (id >= state_.program.buffers.size() || state_.buffer(id).kind != BufferKind::output)
      state_.fail("the output list names a buffer that is no output");
    seen.insert(root_of(state_.program, id));
  }
  for (std::uint32_t id = 0; id < state_.program.buffers.size(); ++id) {
    const bool outside = state_.buffer(id).kind == BufferKind::param || state_.buffer(id).kind == BufferKind::output;
    if (outside && !state_.buffer(id).alias_of && !seen.contains(id))
      state_.fail(fmt::format("'{}' is in neither list", state_.buffer(id).name));
  }
}

void Declarations::atoms() {
  if (state_.program.atoms.size() > kMaxAtoms) state_.fail("too many atoms");
  std::set<std::pair<int, std::uint32_t>> named;
  state_.depends.assign(state_.program.atoms.size(), {});
  for (std::size_t a = 0; a < state_.program.atoms.size(); ++a) {
    const Atom& atom = state_.program.atoms[a];
    if (atom.kind == Atom::Kind::loop || atom.kind == Atom::Kind::program_id) {
      if (!named.emplace(static_cast<int>(atom.kind), atom.id).second)
        state_.fail("two atoms name one loop or grid axis");
      if (atom.kind == Atom::Kind::loop) {
        state_.depends[a].set(a);
        state_.atom_of_loop[atom.id] = a;
      }
      continue;
    }
    if (atom.divisor < 1) state_.fail("a divisor below 1");
    for (const Term& term : atom.operand.terms) {
      if (term.atom >= a) state_.fail("an atom depends on a later one");
      state_.depends[a] |= state_.depends[term.atom];
    }
  }
}

}  // namespace

void check_declarations(ValidateState& state) {
  Declarations declarations(state);
  declarations.buffers();
  declarations.interface_lists();
  declarations.atoms();
}

}  // namespace nkigrid::nkisim
