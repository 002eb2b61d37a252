#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/grid/mode_tools.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::agent {

/// The tools as models are told of them: compile_kernel and verify_kernel as the kernel interface defines them.
std::vector<model::ToolSpec> tool_specs(const std::vector<jobs::Tool>& offer);

/// A call's arguments after decoding and the schema check.
struct DecodedCall {
  std::optional<jobs::Tool> tool;  ///< none: what is called is not offered
  std::string source;              ///< compile
  std::optional<std::string> entry;
  std::optional<std::uint32_t> trials;  ///< verify
  std::optional<std::string> file;      ///< read_docs; none: which there are
  std::uint32_t line = 1;               ///< of it, the first to be shown
  std::string problem;                  ///< why the arguments are bad; "" when they are good
  std::vector<std::string> notes;       ///< unknown arguments that were ignored
  bool peeled = false;                  ///< the object came wrapped in one string
  bool mended = false;                  ///< the object was no JSON, by slips that leave no doubt (model::relaxed_json)
};

/// The offered tool that a name can mean alone: with other case or hyphens, behind a namespace ("tools/f", "mcp__x__f",
/// "functions.f:0"), in quotes, with parentheses or a channel behind it, or said twice. The name itself where there is
/// none.
std::string meant_name(const std::string& name, const std::vector<model::ToolSpec>& offered);

/// Decodes a call. Arguments that decode to a string are peeled once when that string holds an object.
/// @param offered what the mode offers; a call of anything else is a problem
DecodedCall decode_call(const model::ToolCall& call, const std::vector<model::ToolSpec>& offered);

}  // namespace nkigrid::agent
