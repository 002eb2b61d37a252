#pragma once

#include <cstddef>
#include <functional>

#include "jobs/benchmark/poser.hpp"
#include "runner/device/paths.hpp"

namespace nkigrid::device {

/// How far a poser is, kept answers left out.
struct PosedSoFar {
  std::size_t done = 0, total = 0, refused = 0;
};

/// What poses tasks on this machine: each is run in a child behind the walls of a kernel's, with torch, several at
/// once. Answers are kept in paths.posed, so a tree is posed once.
/// @param strict refuse to run where this machine lacks a wall (docs/decisions/sandbox.md)
/// @param watch is told now and then how far it is, never by two threads at once; may be empty
/// @throws (the poser) Error{external} when the helper cannot do its work, Error{config} for a missing wall
/// @threads the poser starts threads and ends them
jobs::TaskPoser node_poser(const DevicePaths& paths, bool strict,
                           const std::function<void(const PosedSoFar&)>& watch = nullptr);

/// Runs a Python helper program of ours over `count` things in several processes at once, a share of them each.
/// A signal that would end this program first ends them, by proc::run_command() (held_signals.hpp).
/// @param run what one process does with the things [begin, end); called from several threads
void in_shares(std::size_t count, const std::function<void(std::size_t begin, std::size_t end)>& run);

}  // namespace nkigrid::device
