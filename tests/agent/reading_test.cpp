// Calls that a server left in the text, and arguments as models write them, a row each: tests/data/cases/24 and 25.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "jobs/base/files.hpp"
#include "runner/agent/reading.hpp"
#include "runner/agent/tools.hpp"

namespace nkigrid::agent {
namespace {

using Json = nlohmann::json;

Json table(const std::string& name) {
  return Json::parse(read_file(std::string(NKIGRID_TEST_DATA) + "/cases/" + name));
}

Reading reading_of(const std::string& text, const std::string& thoughts) {
  model::ChatReply reply;
  reply.message = {.role = model::Role::assistant, .content = text};
  reply.reasoning = thoughts;
  return read_reply(reply, tool_specs(jobs::usual_tools()), true);
}

/// Less the newlines around it: which of them belong to a tag is each template's own.
std::string trimmed(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

TEST(Reading, CallsInTheTextAreTakenOutInEachTemplatesForm) {
  const Json rows = table("24_calls_in_text.json");
  ASSERT_GE(rows.size(), 110u);
  const auto tools = tool_specs(jobs::usual_tools());
  for (const Json& row : rows) {
    const Reading reading = reading_of(row["text"], row.value("thoughts", ""));
    const std::string form = row["form"];
    ASSERT_EQ(reading.message.tool_calls.size(), row["calls"].get<std::size_t>()) << row;
    if (form.empty()) continue;
    EXPECT_EQ(reading.flags.at(0), "call_recovered=" + form) << row;
    const DecodedCall call = decode_call(reading.message.tool_calls[0], tools);
    EXPECT_EQ(call.problem, "") << row;
    EXPECT_EQ(trimmed(call.source), trimmed(row["source"])) << row;
  }
}

TEST(Reading, ArgumentsAreReadWhereNothingIsGuessed) {
  const Json rows = table("25_arguments.json");
  ASSERT_GE(rows.size(), 40u);
  for (const Json& row : rows) {
    const DecodedCall call = decode_call({"c", row["tool"], row["arguments"]}, tool_specs(jobs::usual_tools()));
    EXPECT_EQ(call.problem.empty(), row["source"].is_string()) << row << call.problem;
    if (row["source"].is_string()) {
      EXPECT_EQ(call.source, row["source"]) << row;
    }
  }
}

TEST(Reading, CodeIsTakenOutOfFencesOfEveryKindAndNeverOutOfThoughts) {
  const Json rows = table("26_fences.json");
  ASSERT_GE(rows.size(), 40u);
  for (const Json& row : rows) {
    model::ChatReply reply;
    reply.message = {.role = model::Role::assistant, .content = row["text"]};
    const Reading reading = read_reply(reply, {}, true);
    EXPECT_EQ(reading.code ? Json(*reading.code) : Json(), row["code"]) << row;
  }
}

}  // namespace
}  // namespace nkigrid::agent
