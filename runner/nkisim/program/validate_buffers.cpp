#include <set>

#include <fmt/format.h>

#include "runner/nkisim/program/validate.hpp"

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

}  // namespace

void Validator::buffers() {
  if (program_.buffers.size() > kMaxBuffers) fail("too many buffers");
  if (constant_bytes(program_) > kMaxConstantBytes)
    fail(fmt::format("constants of more than {} bytes", kMaxConstantBytes));
  allocated_.assign(program_.buffers.size(), false);
  has_alloc_ = written_ = allocated_;
  for (std::uint32_t id = 0; id < program_.buffers.size(); ++id) {
    line_ = buffer(id).line;
    one_buffer(id);
  }
  line_ = 0;
}

void Validator::one_buffer(std::uint32_t id) {
  const Buffer& what = buffer(id);
  if (what.shape.size() > kMaxRank)
    fail(fmt::format("'{}' has rank {} (at most {})", what.name, what.shape.size(), kMaxRank));
  for (const std::int64_t extent : what.shape) {
    if (extent < 1 || extent > kMaxExtent)
      fail(fmt::format("'{}' has extent {} (legal: 1 to 2^40)", what.name, extent));
  }
  checked_product(what.shape, static_cast<std::int64_t>(size_of(what.dtype)));
  if (on_chip(id) ? what.partition_dim >= what.shape.size() : what.partition_dim != 0) {
    fail(fmt::format("'{}' has a wrong partition dimension", what.name));
  }
  if (what.alias_of) return alias(id);
  const Size size = size_in_memory(what);
  if (what.kind == BufferKind::constant && what.data.size() != static_cast<std::size_t>(size.tile_bytes)) {
    fail(fmt::format("constant '{}' has {} bytes (its shape says {})", what.name, what.data.size(), size.tile_bytes));
  }
  if (!on_chip(id)) return;
  const std::int64_t partitions = what.shape[what.partition_dim];
  if (partitions > kPartitions) {
    fail(fmt::format("'{}' has {} partitions (at most {})", what.name, partitions, kPartitions));
  }
  const std::int64_t most = what.kind == BufferKind::sbuf ? kSbufBytes : kPsumBytes;
  if (size.tile_bytes / partitions > most) {
    fail(fmt::format("'{}' takes {} bytes a partition (at most {})", what.name, size.tile_bytes / partitions, most));
  }
}

void Validator::alias(std::uint32_t id) {
  const Buffer& what = buffer(id);
  if (*what.alias_of >= id) fail(fmt::format("'{}' is an alias of a later buffer", what.name));
  const Buffer& root = buffer(root_of(program_, id));
  if (root.kind != what.kind) fail(fmt::format("alias '{}' is in another memory than its buffer", what.name));
  if (!what.data.empty()) fail(fmt::format("alias '{}' carries data", what.name));
  if (on_chip(id) && what.shape[what.partition_dim] > kPartitions)
    fail(fmt::format("'{}' has more than 128 partitions", what.name));
  if (!(size_in_memory(what) == size_in_memory(root)))
    fail(fmt::format("alias '{}' has another size than its buffer", what.name));
}

void Validator::interface_lists() {
  std::set<std::uint32_t> seen;
  for (const std::uint32_t id : program_.params) {
    const bool good = id < program_.buffers.size() && buffer(id).kind == BufferKind::param && !buffer(id).alias_of;
    if (!good || !seen.insert(id).second) fail("the parameter list names a buffer that is no parameter, or one twice");
  }
  if (program_.outputs.empty()) fail("the kernel returns no output");
  for (const std::uint32_t id : program_.outputs) {
    if (id >= program_.buffers.size() || buffer(id).kind != BufferKind::output)
      fail("the output list names a buffer that is no output");
    seen.insert(root_of(program_, id));
  }
  for (std::uint32_t id = 0; id < program_.buffers.size(); ++id) {
    const bool outside = buffer(id).kind == BufferKind::param || buffer(id).kind == BufferKind::output;
    if (outside && !buffer(id).alias_of && !seen.contains(id))
      fail(fmt::format("'{}' is in neither list", buffer(id).name));
  }
}

void Validator::atoms() {
  if (program_.atoms.size() > kMaxAtoms) fail("too many atoms");
  std::set<std::pair<int, std::uint32_t>> named;
  depends_.assign(program_.atoms.size(), {});
  for (std::size_t a = 0; a < program_.atoms.size(); ++a) {
    const Atom& atom = program_.atoms[a];
    if (atom.kind == Atom::Kind::loop || atom.kind == Atom::Kind::program_id) {
      if (!named.emplace(static_cast<int>(atom.kind), atom.id).second) fail("two atoms name one loop or grid axis");
      if (atom.kind == Atom::Kind::loop) {
        depends_[a].set(a);
        atom_of_loop_[atom.id] = a;
      }
      continue;
    }
    if (atom.divisor < 1) fail("a divisor below 1");
    for (const Term& term : atom.operand.terms) {
      if (term.atom >= a) fail("an atom depends on a later one");
      depends_[a] |= depends_[term.atom];
    }
  }
}

}  // namespace nkigrid::nkisim
