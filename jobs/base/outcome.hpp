#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nkigrid {

/// How an episode ended. The first eleven are the model's (scored); the last four are the machinery's (never scored).
enum class Outcome : std::uint8_t {
  pass,
  compile_fail,
  compile_timeout,
  run_fail,
  mismatch,
  no_code,
  bad_tool_args,
  truncated,
  context_full,
  refused,
  cheat,
  api_error,
  verifier_error,
  device_error,
  killed
};
inline constexpr int kOutcomes = 15;

/// How the agent's loop ended, apart from the verdict.
enum class EndedBy : std::uint8_t { none, compiled, verified, stopped, turns, context_full, refused };

/// What one turn was.
enum class TurnEvent : std::uint8_t { ok, no_code, bad_tool_args, truncated, refused };

/// Where in the life of a kernel a diagnostic arose.
enum class Stage : std::uint8_t { none, parse, trace, backend, run, verify, infra };

/// Fine diagnostic code of a kernel's failure (`none`: no failure). Twenty groups for plots; `infra` is outside them.
enum class Code : std::uint8_t {
  none,
  py_syntax,
  no_kernel,
  wrong_api_era,
  unknown_api,
  bad_signature,
  partition_limit,
  matmul_limit,
  matmul_layout,
  shape_broadcast,
  rank_layout,
  wrong_memory,
  dtype,
  unsupported_op,
  indexing,
  oob,
  control_flow,
  scope_loop_dep,
  output_contract,
  capacity,
  compiler_internal,
  compile_timeout,
  runtime_device,
  wrong_output_shape_dtype,
  numeric_mismatch,
  non_finite_uninit,
  rule_violation,
  infra,
  py_exception  // last: records hold the numbers
};
inline constexpr int kCodes = 29;

std::string_view to_string(Outcome outcome) noexcept;   ///< "compile_fail"
std::string_view to_string(EndedBy ended_by) noexcept;  ///< "" for none
std::string_view to_string(TurnEvent event) noexcept;
std::string_view to_string(Stage stage) noexcept;  ///< "" for none
std::string_view to_string(Code code) noexcept;    ///< "PARTITION_LIMIT"; "" for none
std::string_view group_of(Code code) noexcept;     ///< "TILE_LIMIT"; "" for none

std::optional<Outcome> parse_outcome(std::string_view text) noexcept;
std::optional<EndedBy> parse_ended_by(std::string_view text) noexcept;
std::optional<TurnEvent> parse_turn_event(std::string_view text) noexcept;
std::optional<Stage> parse_stage(std::string_view text) noexcept;
std::optional<Code> parse_code(std::string_view text) noexcept;

/// True for a model's outcome, which counts in a rate; false for an infrastructure outcome, which is rerun.
constexpr bool is_scored(Outcome outcome) noexcept { return outcome < Outcome::api_error; }

/// The outcome of an episode whose final kernel failed with `code` at `stage` (docs/formats and the kernel interface's
/// table).
/// @pre code != none. INFRA maps to verifier_error; a caller that knows the device is at fault uses device_error
/// itself.
Outcome outcome_of(Code code, Stage stage) noexcept;

}  // namespace nkigrid
