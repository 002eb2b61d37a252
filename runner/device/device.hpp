#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/base/outcome.hpp"
#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"

namespace nkigrid::device {

/// Constants in a kernel's text beyond this many bytes are evidence of an answer written down (kernel interface,
/// outcomes).
constexpr std::size_t kMostConstantBytes = 64 * 1024;

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
  double max_abs_err = 0, rel_l2 = 0;  ///< worst trial; NaN when nothing ran
  std::optional<Mismatch> first;       ///< of the first failing trial, as `worst`
  std::optional<Mismatch> worst;       ///< the mismatch with the largest absolute error
  std::vector<std::string> hints;
  double seconds = 0;
};

/// What a look inside a run finds, whatever the verdict.
struct Inspection {
  std::vector<std::string> notes;  ///< functions out of range, overwritten results, loops whose order matters
  std::optional<std::vector<std::string>>
      orders;  ///< what shuffled affine_range loops change; none: not asked, or the backend cannot
};

/// Compiles and verifies. @threads every call from many lanes at once. Failures of a kernel are values; a failure of
/// the machinery is a value with code INFRA; only a stop of the whole run throws (Error{external}).
class Device {
 public:
  virtual ~Device() = default;

  /// @param entry the tool's `entry`, if the model named one
  virtual CompileResult compile(const jobs::Task& task, const std::string& source,
                                const std::optional<std::string>& entry) = 0;

  /// Runs trials 0 .. trials-1 of `stream` by the paper rule. @pre trials >= 1
  virtual VerifyResult verify(const jobs::Task& task, const Artifact& artifact, Stream stream,
                              std::uint32_t trials) = 0;

  /// The harness's own last check: check.trials of `final`, then t = 0 again under the other poison; both rules, cheat
  /// evidence.
  virtual VerifyResult final_check(const jobs::Task& task, const Artifact& artifact) = 0;

  /// Runs trial 0 of `final` again, watched. @param shuffle_seed also in other orders of the affine_range loops
  virtual Inspection inspect(const jobs::Task&, const Artifact&, std::optional<std::uint64_t> /*shuffle_seed*/) {
    return {};
  }

  virtual std::string backend() const = 0;   ///< "sim"
  virtual std::string compiler() const = 0;  ///< e.g. "2.24+nkisim"
};

/// Where a device finds its parts.
struct DevicePaths {
  std::filesystem::path nkisim;            ///< folder that holds the package neuronxcc
  std::filesystem::path tracer_server;     ///< Python file of the tracer server
  std::filesystem::path run_server;        ///< executable of the run server
  std::filesystem::path reference_worker;  ///< Python file of the reference worker
  std::filesystem::path cache;             ///< node-local folder of reference results; made when absent
};

/// The paths that belong to this binary (build tree or install prefix).
DevicePaths default_device_paths();

/// The fork servers of the simulator backend. Started by main first of all: before MPI_Init, before any thread, before
/// a key or a seed is read.
class ForkServers;
std::shared_ptr<ForkServers> start_fork_servers(const DevicePaths& paths, const jobs::CheckSpec& check,
                                                std::uint32_t lanes);

/// @param run_seed the grid's seed; keys the draws of inputs and weights
/// @throws Error{config} for a backend that does not exist yet; Error{external} when the canary kernel fails.
std::unique_ptr<Device> make_device(const jobs::DeviceSpec& spec, const jobs::CheckSpec& check, std::uint64_t run_seed,
                                    std::shared_ptr<ForkServers> servers, const DevicePaths& paths);

}  // namespace nkigrid::device
