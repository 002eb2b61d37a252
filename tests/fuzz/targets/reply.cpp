#include <string>

#include "jobs/base/error.hpp"
#include "jobs/grid/apis.hpp"
#include "runner/model/chat_json.hpp"
#include "runner/model/http.hpp"
#include "runner/model/wire/wire.hpp"
#include "tests/fuzz/targets.hpp"

namespace nkigrid::fuzz {
namespace {

void answer(std::string body) {
  const auto wire = model::wire_of(jobs::OpenAi{});
  model::HttpAnswer answer;
  answer.body = std::move(body);
  try {
    // What a reply is in the log is what it was.
    if (const auto reply = wire.reply(answer.body)) {
      const auto kept = model::to_json(*reply);
      if (model::to_json(model::parse_reply(kept)) != kept) __builtin_trap();
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) __builtin_trap();
  }
  for (const long status : {200L, 400L, 429L, 500L}) {
    answer.status = status;
    wire.verdict(answer);
  }
}

}  // namespace

void reply(std::string_view bytes) { answer(std::string(bytes)); }

void stream(std::string_view bytes) {
  answer("data: " + std::string(bytes));
  std::string events;  // a line an event
  for (const char c : bytes) events += c == '\n' ? std::string("\n\ndata: ") : std::string(1, c);
  answer("data: " + events + "\n\ndata: [DONE]\n\n");
}

}  // namespace nkigrid::fuzz
