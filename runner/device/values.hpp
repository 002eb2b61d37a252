#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/base/outcome.hpp"
#include "jobs/benchmark.hpp"

namespace nkigrid::device {

// What goes in and out of a device, whichever backend is behind it.

/// What a compiler made: a program for the simulator, a NEFF on Trainium. Immutable, shared between lanes.
struct Artifact {
  std::string bytes;
  std::string entry;               ///< the kernel function it came from
  std::string source_hash;         ///< SHA-256 of the source
  std::size_t constant_bytes = 0;  ///< baked constants, for the cheat rule (64 KiB)
};

struct Diagnostic {
  Code code = Code::none;
  Stage stage = Stage::none;
  std::uint32_t line = 0;  ///< of kernel.py, from 1; 0: none
  std::string message;     ///< as the model is shown it: names kernel.py, no scratch path, time or pid
};

struct CompileResult {
  std::shared_ptr<const Artifact> artifact;  ///< null when it failed
  Diagnostic diagnostic;                     ///< code none when it passed
  std::vector<std::string> warnings;         ///< each begins "warning (not blocking): "
  double seconds = 0;
  double estimate_us = 0;  ///< NaN: none
  bool ok() const noexcept { return artifact != nullptr; }
};

/// Bytes of one tensor. @pre dtype is one of the kernel interface's
std::size_t bytes_of(const jobs::TensorSpec& tensor);

/// Streams of draws (kernel interface, 8): tool calls see only `tool`.
enum class Stream : std::uint8_t { tool, final_check, bench };

std::string_view to_string(Stream stream) noexcept;  ///< "tool", "final", "bench"

/// What memory holds that no program has written: outputs start as it, so that an element nobody stored is told from
/// a result, and the final check runs under two of them, so that a kernel whose numbers hang on it is told from one
/// whose numbers do not.
struct Poison {
  std::uint32_t nan_bits = 0x7fc0dead;  ///< a quiet NaN: of each float32 element
  std::uint8_t int_byte = 0xa5;         ///< of each byte of other types
};

/// What one execution that came to its end, or to a fault of the kernel's, says of itself.
struct RunReport {
  Code code = Code::none;  ///< none: it ran to its end. WRONG_OUTPUT_SHAPE_DTYPE: the outputs are not the task's
  std::uint32_t line = 0;  ///< of kernel.py, from 1; 0: none
  std::string message;
  std::vector<std::string> hints;        ///< "output 0: 300 of 16384 elements were never written"
  std::vector<std::uint64_t> unwritten;  ///< elements never stored, one an output
};

/// One element that does not match.
struct Mismatch {
  std::uint32_t output = 0;
  std::vector<std::int64_t> index;
  double got = 0, want = 0;
};

struct VerifyResult {
  bool paper_ok = false;   ///< count, shape, dtype and allclose in every trial
  bool strict_ok = false;  ///< only the final check decides it; false elsewhere
  Diagnostic diagnostic;   ///< code none when paper_ok; INFRA when the machinery failed
  std::uint32_t trials = 0, trials_passed = 0;
  double max_abs_err = 0, rel_l2 = 0;          ///< worst trial; NaN when nothing ran
  std::uint64_t elements = 0, mismatches = 0;  ///< of the first failing trial's outputs; 0: none was compared
  std::optional<Mismatch> first;               ///< of the first failing trial, as `worst`
  std::optional<Mismatch> worst;               ///< the mismatch with the largest absolute error
  std::vector<std::string> hints;
  double seconds = 0;
};

/// What a look inside a run finds, whatever the verdict.
struct Inspection {
  std::vector<std::string> notes;  ///< functions out of range, overwritten results, loops whose order matters
  std::optional<std::vector<std::string>>
      orders;  ///< what shuffled affine_range loops change; none: not asked, or the backend cannot
};

}  // namespace nkigrid::device
