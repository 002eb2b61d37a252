#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/device/device.hpp"

// What a model is told: one JSON object a call, at most kMaxAnswerBytes, or plain text.
namespace nkigrid::agent {

/// Most bytes of one tool answer, and of compiler text shown to a model.
inline constexpr std::size_t kMaxAnswerBytes = 16384;

std::string compile_answer(const device::CompileResult& result, std::uint32_t number,
                           const std::vector<std::string>& notes);
std::string verify_answer(const device::VerifyResult& result, std::uint32_t number,
                          const std::vector<std::string>& notes);
/// @param profile a JSON object, as Device::profile() gives it
std::string profile_answer(const std::string& profile, std::uint32_t number, const std::vector<std::string>& notes);
/// An answer that is an error of the call itself: {"ok": false, "error": ...}.
std::string error_answer(const std::string& problem);

/// Builds an answer with less and less room [bytes] for its texts until it has at most kMaxAnswerBytes.
std::string fitted(const std::function<nlohmann::ordered_json(std::size_t)>& build);
/// Adds what was ignored of a call's arguments.
void add_notes(nlohmann::ordered_json& answer, const std::vector<std::string>& notes);

/// What an answer said, when a conversation is rebuilt. @returns nothing for an error answer
std::optional<bool> answered_ok(const std::string& answer);

/// Compiler or verifier text as a model may see it: valid UTF-8, no terminal codes, at most `most` bytes.
std::string bounded(std::string_view text, std::size_t most = kMaxAnswerBytes);

}  // namespace nkigrid::agent
