#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jobs/base/outcome.hpp"
#include "runner/nkisim/engine/poison.hpp"
#include "runner/nkisim/engine/trip_order.hpp"
#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

class Observer;

/// What is found out while a program runs, apart from its numbers.
struct RunReport {
  Code code = Code::none;  ///< OOB (dynamic), CAPACITY (touched memory), RUNTIME_DEVICE; none: it ran to its end
  std::uint32_t line = 0;
  std::string message;
  std::vector<std::string> hints;        ///< "output 0: 300 of 16384 elements were never written, first at [128, 0]"
  std::vector<std::uint64_t> unwritten;  ///< elements never stored, one an output
};

struct RunLimits {
  std::uint64_t memory_bytes = 4ULL << 30;  ///< touched pages of on-chip and private HBM storage
  bool leave_out_copies = true;  ///< read loads in place and compute into stores' destinations; same bytes, less time
};

/// The limits, and the handles that only diagnosis sets.
struct RunOptions {
  RunLimits limits;
  TripOrder order;
  Observer* observer = nullptr;  ///< told of every read and operand; the program runs as written, every buffer tracked
  std::optional<std::uint32_t> zeroed;  ///< root buffer whose undefined memory is zero in place of poison
};

/// Runs a validated program once on one thread. Deterministic: the same program, inputs and poison give the same bytes.
/// @param inputs one a parameter, exact byte size; read only
/// @param outputs one an output, exact byte size; the engine poisons them first
/// @throws Error{internal} on sizes that do not fit: the caller's bug, not the kernel's.
RunReport run_program(const Program& program, std::span<const std::span<const std::byte>> inputs,
                      std::span<const std::span<std::byte>> outputs, const Poison& poison,
                      const RunOptions& options = {});

}  // namespace nkigrid::nkisim
