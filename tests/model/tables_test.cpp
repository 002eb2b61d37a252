// What servers and models write, a row each, with what it means: tests/data/cases/22 and 23. In our own words after
// public reports, numbers changed; what a careful reader would have to guess is refused there, too.
#include <gtest/gtest.h>

#include <array>

#include "jobs/base/error.hpp"
#include "runner/model/retry_after.hpp"
#include "runner/model/wire/wire.hpp"
#include "tests/model/fixtures.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

Wire wire_named(const std::string& api) {
  if (api == "anthropic") return wire_of(jobs::Anthropic{});
  if (api == "bedrock") return wire_of(jobs::Bedrock{});
  return wire_of(jobs::OpenAi{.form = api == "responses" ? jobs::OpenAi::Form::responses : jobs::OpenAi::Form::chat});
}

std::string bytes_of(const Json& body) { return body.is_string() ? body.get<std::string>() : body.dump(); }

std::string_view name_of_fault(WireFault fault) {
  constexpr std::array<std::string_view, 7> kNames = {"retry",  "retry_once", "context_full", "refused",
                                                      "spoken", "adapt",      "fatal"};
  return kNames.at(static_cast<std::size_t>(fault));
}

TEST(Tables, EachAnswerThatIsNoReplyAsksForWhatItsRowSays) {
  const Json rows = test::case_json("22_faults.json");
  ASSERT_GE(rows.size(), 200u);
  for (const Json& row : rows) {
    HttpAnswer answer = {.status = row["status"], .headers = {}, .body = bytes_of(row["body"])};
    const Json headers = row.value("headers", Json::object());
    for (const auto& [name, value] : headers.items()) answer.headers[name] = value;
    const Wire wire = wire_named(row["api"]);
    if (answer.status == 200) {
      EXPECT_FALSE(wire.reply(answer.body)) << row;
    }
    const WireVerdict verdict = wire.verdict(answer);
    EXPECT_EQ(name_of_fault(verdict.fault), row["fault"]) << row;
    EXPECT_NEAR(verdict.server_wait.value_or(Seconds(-1)).count(), row.value("wait", -1.0), 1e-9) << row;
  }
}

std::string_view name_of_finish(Finish finish) {
  constexpr std::array<std::string_view, 4> kNames = {"stop", "length", "tool_calls", "refused"};
  return kNames.at(static_cast<std::size_t>(finish));
}

/// What became of a body, for comparing it with a row's `finish`: "none" is an error's, "corrupt" nobody's.
std::pair<std::string, ChatReply> heard_by(const Wire& wire, const std::string& body) {
  try {
    const auto reply = wire.reply(body);
    return reply ? std::pair(std::string(name_of_finish(reply->finish)), *reply) : std::pair("none", ChatReply{});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    return {"corrupt", {}};
  }
}

void expect_row(const Json& row, const ChatReply& reply) {
  if (row.contains("text")) {
    EXPECT_EQ(reply.message.content, row["text"]) << row;
  }
  if (row.contains("thoughts")) {
    EXPECT_EQ(reply.reasoning, row["thoughts"]) << row;
  }
  if (row.contains("usage")) {
    EXPECT_EQ(Json({reply.usage.input, reply.usage.output, reply.usage.cached}), row["usage"]) << row;
  }
  if (!row.contains("calls")) return;
  Json calls = Json::array();
  for (const ToolCall& call : reply.message.tool_calls) calls.push_back({call.id, call.name, call.arguments});
  EXPECT_EQ(calls, row["calls"]) << row;
}

TEST(Tables, EachReplyIsReadAsItsRowSays) {
  const Json rows = test::case_json("23_replies.json");
  ASSERT_GE(rows.size(), 150u);
  for (const Json& row : rows) {
    const auto [finish, reply] = heard_by(wire_named(row["api"]), bytes_of(row["body"]));
    if (row.contains("finish")) {
      EXPECT_EQ(finish, row["finish"]) << row;
    } else {
      EXPECT_TRUE(finish != "none" && finish != "corrupt") << row;
    }
    expect_row(row, reply);
  }
}

}  // namespace
}  // namespace nkigrid::model
