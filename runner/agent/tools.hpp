#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/device/device.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::agent {

/// Most bytes of one tool answer, and of compiler text shown to a model.
inline constexpr std::size_t kMaxAnswerBytes = 16384;

enum class Tool { compile, verify, unknown };

/// A call's arguments after decoding and the schema check.
struct DecodedCall {
  Tool tool = Tool::unknown;
  std::string source;  ///< compile
  std::optional<std::string> entry;
  std::optional<std::uint32_t> trials;  ///< verify
  std::string problem;                  ///< why the arguments are bad; "" when they are good
  std::vector<std::string> notes;       ///< unknown arguments that were ignored
  bool peeled = false;                  ///< the object came wrapped in one string
};

/// Decodes a call. Arguments that decode to a string are peeled once when that string holds an object.
DecodedCall decode_call(const model::ToolCall& call);

// Answers: one JSON object, at most kMaxAnswerBytes.

std::string compile_answer(const device::CompileResult& result, std::uint32_t number,
                           const std::vector<std::string>& notes);
std::string verify_answer(const device::VerifyResult& result, std::uint32_t number,
                          const std::vector<std::string>& notes);
/// An answer that is an error of the call itself: {"ok": false, "error": ...}.
std::string error_answer(const std::string& problem);

/// What an answer said, when a conversation is rebuilt. @returns nothing for an error answer
std::optional<bool> answered_ok(const std::string& answer);

}  // namespace nkigrid::agent
