#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runner/nkisim/engine/atoms.hpp"
#include "runner/nkisim/engine/exec.hpp"

/// The nodes of the executable tree that hold others, and allocs. Internal to the room.
namespace nkigrid::nkisim {

/// Runs the nodes in order; the machine's line follows.
void run_block(const ExecBlock& block, Machine& machine);

/// @param number the loop's dense number
/// @param dead block tensors that no other trip touches where this one did (dead_after_trip): released after each trip
std::unique_ptr<Exec> make_loop(const Loop& loop, std::uint32_t number, AtomSet atoms, ExecBlock body,
                                std::vector<std::uint32_t> dead);

std::unique_ptr<Exec> make_branch(const If& branch, ExecBlock then_body, ExecBlock else_body, const Lowering& lowering);

/// @param unseen_while when nobody can see the poison (cover.hpp)
std::unique_ptr<Exec> make_alloc(const Alloc& alloc, std::optional<std::vector<Affine>> unseen_while);

}  // namespace nkigrid::nkisim
