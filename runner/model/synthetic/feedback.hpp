#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/base/outcome.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::model {

/// What the harness's answer to one reply tells the synthetic model.
struct Feedback {
  enum class Kind {
    none,  ///< no answer that says anything: the nudge, a cut reply, calls that were not run
    compile_failed,
    compile_passed,
    verify_failed,
    verify_passed
  };
  Kind kind = Kind::none;
  Code code = Code::none;
  std::uint32_t line = 0;
  std::string text;     ///< message and hints, lower case
  bool warned = false;  ///< a compile that passed with warnings
  bool raw = false;     ///< compiler text in a user message, no tool's answer
};

/// A past reply with what was answered to it.
struct Exchange {
  Message reply;
  std::vector<Message> answers;
};

/// The exchanges of a conversation, oldest first.
std::vector<Exchange> exchanges_of(const std::vector<Message>& messages);

/// The last word counts: a verification after a compile, a second compile after a first.
Feedback feedback_of(const Exchange& exchange);

}  // namespace nkigrid::model
