#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jobs/base/outcome.hpp"
#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

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

/// Poison patterns: outputs and undefined memory start as `nan_bits` in float buffers of 4 bytes (its high half in
/// 2-byte ones) and as `int_byte` in integers. Two different poisons must give the same output bytes.
struct Poison {
  std::uint32_t nan_bits = 0x7fc0dead;
  std::uint8_t int_byte = 0xa5;
};

/// Runs a validated program once on one thread. Deterministic: the same program, inputs and poison give the same bytes.
/// @param inputs one a parameter, exact byte size; read only
/// @param outputs one an output, exact byte size; the engine poisons them first
/// @throws Error{internal} on sizes that do not fit: the caller's bug, not the kernel's.
RunReport run_program(const Program& program, std::span<const std::span<const std::byte>> inputs,
                      std::span<const std::span<std::byte>> outputs, const Poison& poison,
                      const RunLimits& limits = {});

/// Latency estimate on one Trn1 NeuronCore [us]: M + 0.3 (S - M) with M = max and S = sum of DMA, PE, ACT and DVE busy
/// times.
/// @source docs/decisions/estimate.md
double estimate_us(const Program& program);

}  // namespace nkigrid::nkisim
