#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/ranges.hpp"

/// What the rules of validate() share. They stand in layers: the walk (validate.cpp) over the operations' rules over
/// those of accesses; each sees this state. Internal to the room.
namespace nkigrid::nkisim {

/// Partitions of SBUF and PSUM, and of the tensor engine's stationary side. @source NKI, "Trainium architecture"
inline constexpr std::int64_t kPartitions = 128;

struct ValidateState {
  explicit ValidateState(const Program& program);

  /// @throws Error{corrupt} that names the line
  [[noreturn]] void fail(std::string_view what) const;
  const Buffer& buffer(std::uint32_t id) const { return program.buffers[id]; }
  bool on_chip(std::uint32_t id) const { return is_on_chip(buffer(id).kind); }

  const Program& program;
  Ranges ranges;
  std::uint32_t line = 0;                           ///< of the node at hand
  std::size_t branches = 0;                         ///< open ones
  std::vector<bool> allocated, has_alloc, written;  ///< by buffer: its alloc's region is open; it has one; as named
  std::vector<std::uint32_t> open_loops;
  using Atoms = std::bitset<kMaxAtoms>;
  std::vector<Atoms> depends;  ///< loop atoms that an atom depends on
  Atoms open_atoms;            ///< loop atoms whose loop is open
  std::map<std::uint32_t, std::size_t> atom_of_loop;
};

}  // namespace nkigrid::nkisim
