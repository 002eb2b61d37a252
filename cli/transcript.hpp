#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/log/history.hpp"
#include "runner/log/records.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::cli {

/// Everything that is known of one episode's conversation.
struct Transcript {
  std::string episode;
  std::vector<log::LoggedTurn> turns;  ///< oldest first
  std::optional<log::End> end;         ///< of the attempt that counts, else of the newest that ended
  std::string state;                   ///< why it is outstanding, when there is no counted end
};

struct TranscriptStyle {
  bool color = false;
  bool full = false;       ///< every kernel whole, not only what changed
  std::uint32_t turn = 0;  ///< this one alone; 0: all
};

std::string render_text(const Transcript& transcript, const TranscriptStyle& style);
/// What each turn changed in the kernel, what the compiler or the verifier said of it in a word, and the outcome.
std::string render_diffs(const Transcript& transcript, const TranscriptStyle& style);
std::string render_json(const Transcript& transcript);

/// The messages of a first request as text or JSON.
std::string render_prompt(const std::vector<model::Message>& messages, const std::vector<model::ToolSpec>& tools,
                          bool json);

}  // namespace nkigrid::cli
