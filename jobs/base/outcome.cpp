#include "jobs/base/outcome.hpp"

#include <array>

namespace nkigrid {
namespace {

constexpr std::array<std::string_view, kOutcomes> kOutcomeNames = {
    "pass",    "compile_fail",  "compile_timeout", "run_fail",     "mismatch",
    "no_code", "bad_tool_args", "truncated",       "context_full", "refused",
    "cheat",   "api_error",     "verifier_error",  "device_error", "killed"};
constexpr std::array<std::string_view, 7> kEndedByNames = {"",      "compiled",     "verified", "stopped",
                                                           "turns", "context_full", "refused"};
constexpr std::array<std::string_view, 5> kEventNames = {"ok", "no_code", "bad_tool_args", "truncated", "refused"};
constexpr std::array<std::string_view, 7> kStageNames = {"", "parse", "trace", "backend", "run", "verify", "infra"};

struct CodeName {
  std::string_view code, group;
};
constexpr std::array<CodeName, kCodes> kCodeNames = {{
    {"", ""},
    {"PY_SYNTAX", "SOURCE"},
    {"NO_KERNEL", "SOURCE"},
    {"WRONG_API_ERA", "SOURCE"},
    {"UNKNOWN_API", "API_NAME"},
    {"BAD_SIGNATURE", "SIGNATURE"},
    {"PARTITION_LIMIT", "TILE_LIMIT"},
    {"MATMUL_LIMIT", "TILE_LIMIT"},
    {"MATMUL_LAYOUT", "MATMUL_LAYOUT"},
    {"SHAPE_BROADCAST", "SHAPE"},
    {"RANK_LAYOUT", "RANK_LAYOUT"},
    {"WRONG_MEMORY", "MEMORY_SPACE"},
    {"DTYPE", "DTYPE_OP"},
    {"UNSUPPORTED_OP", "DTYPE_OP"},
    {"INDEXING", "INDEX_MASK"},
    {"OOB", "OOB"},
    {"CONTROL_FLOW", "CONTROL"},
    {"SCOPE_LOOP_DEP", "CONTROL"},
    {"OUTPUT_CONTRACT", "OUTPUT_CONTRACT"},
    {"CAPACITY", "CAPACITY"},
    {"COMPILER_INTERNAL", "BACKEND"},
    {"COMPILE_TIMEOUT", "BACKEND"},
    {"RUNTIME_DEVICE", "DEVICE"},
    {"WRONG_OUTPUT_SHAPE_DTYPE", "OUTPUT_SHAPE"},
    {"NUMERIC_MISMATCH", "NUMERIC"},
    {"NON_FINITE_UNINIT", "NON_FINITE"},
    {"RULE_VIOLATION", "POLICY"},
    {"INFRA", "INFRA"},
    {"PY_EXCEPTION", "SOURCE"},
}};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view text) noexcept {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Outcome outcome) noexcept { return kOutcomeNames[static_cast<std::size_t>(outcome)]; }
std::string_view to_string(EndedBy ended_by) noexcept { return kEndedByNames[static_cast<std::size_t>(ended_by)]; }
std::string_view to_string(TurnEvent event) noexcept { return kEventNames[static_cast<std::size_t>(event)]; }
std::string_view to_string(Stage stage) noexcept { return kStageNames[static_cast<std::size_t>(stage)]; }
std::string_view to_string(Code code) noexcept { return kCodeNames[static_cast<std::size_t>(code)].code; }
std::string_view group_of(Code code) noexcept { return kCodeNames[static_cast<std::size_t>(code)].group; }

std::optional<Outcome> parse_outcome(std::string_view text) noexcept { return find<Outcome>(kOutcomeNames, text); }
std::optional<EndedBy> parse_ended_by(std::string_view text) noexcept { return find<EndedBy>(kEndedByNames, text); }
std::optional<TurnEvent> parse_turn_event(std::string_view text) noexcept { return find<TurnEvent>(kEventNames, text); }
std::optional<Stage> parse_stage(std::string_view text) noexcept { return find<Stage>(kStageNames, text); }
std::optional<Code> parse_code(std::string_view text) noexcept {
  for (std::size_t i = 0; i < kCodeNames.size(); ++i) {
    if (kCodeNames[i].code == text) return static_cast<Code>(i);
  }
  return std::nullopt;
}

Outcome outcome_of(Code code, Stage stage) noexcept {
  switch (code) {
    case Code::none:
      return Outcome::pass;
    case Code::compile_timeout:
      return Outcome::compile_timeout;
    case Code::runtime_device:
      return Outcome::run_fail;
    case Code::oob:
      return stage == Stage::run ? Outcome::run_fail : Outcome::compile_fail;
    case Code::wrong_output_shape_dtype:
    case Code::numeric_mismatch:
    case Code::non_finite_uninit:
      return Outcome::mismatch;
    case Code::rule_violation:
      return Outcome::cheat;
    case Code::infra:
      return Outcome::verifier_error;
    default:
      return Outcome::compile_fail;
  }
}

}  // namespace nkigrid
