#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes.hpp"
#include "runner/agent/doc_answers.hpp"
#include "runner/agent/modes.hpp"
#include "runner/agent/tools.hpp"

namespace nkigrid::agent {
namespace {

using jobs::ModeKind, jobs::Tool;
using test::calls, test::compile, test::Episode, test::says, test::ScriptedModel, test::verify;
using testing::HasSubstr;
using Json = nlohmann::json;

/// The answers of the tools to a turn's calls.
std::vector<Json> answers_of(const log::Turn& turn) {
  std::vector<Json> answers;
  for (const auto& message : parse_lines(turn.tool_output)) answers.push_back(Json::parse(message.content));
  return answers;
}

struct Agent : Episode {
  explicit Agent(std::vector<Tool> offer) : Episode(ModeKind::tool_agent, 5) {
    mode.tools.offer = std::move(offer);
    mode.tools.pages = {{"isa/tensor.md", "# Tensor\nnc_matmul\n"}, {"load.md", "load"}};
  }
  std::vector<Json> play(std::vector<std::pair<std::string, std::string>> wanted) {
    ScriptedModel model({calls(std::move(wanted)), says("done"), says("done")});
    run(model);
    offered = model.requests.at(0).tools;
    asked = model.requests.at(0).messages.at(1).content;
    return answers_of(turn(0));
  }
  std::vector<model::ToolSpec> offered;
  std::string asked;
};

TEST(MoreTools, AreOfferedAndToldAsTheModeSays) {
  Agent agent({Tool::compile, Tool::verify, Tool::profile, Tool::read_docs});
  agent.play({compile("def a(): 1")});
  ASSERT_EQ(agent.offered.size(), 4u);
  EXPECT_EQ(agent.offered[2].name, "profile_kernel");
  EXPECT_EQ(agent.offered[3].name, "read_docs");
  for (const auto& tool : agent.offered) EXPECT_TRUE(Json::parse(tool.parameters).contains("properties"));
  EXPECT_THAT(agent.asked, HasSubstr("`profile_kernel`"));
  EXPECT_THAT(agent.asked, HasSubstr("`read_docs`"));
  Agent papers(jobs::usual_tools());
  const auto answers = papers.play({{"profile_kernel", "{}"}});
  EXPECT_THAT(std::string(answers[0]["error"]), HasSubstr("there are: compile_kernel, verify_kernel"));
  EXPECT_EQ(papers.asked.find("profile"), std::string::npos);
}

TEST(MoreTools, AProfileIsOfTheCurrentKernel) {
  Agent agent({Tool::compile, Tool::profile});
  const auto answers = agent.play({{"profile_kernel", "{}"},
                                   compile("def a(): 1"),
                                   {"profile_kernel", R"({"entry":"other"})"},
                                   {"profile_kernel", R"({"colour":1})"}});
  EXPECT_EQ(answers[0]["error"], "no compiled kernel");
  EXPECT_THAT(std::string(answers[2]["error"]), HasSubstr("entry 'other' is not the compiled one"));
  EXPECT_EQ(answers[3], Json::parse(R"({"ok":true,"kernel":"k1","estimate_us":7.5,"bound":"dma",)"
                                    R"("notes":["unknown argument 'colour' ignored"]})"));
  EXPECT_EQ(agent.device.profiled, std::vector<std::string>{"def a(): 1"});
  EXPECT_EQ(agent.turn(0).verify_ok, log::kNotDone) << "a profile is no check";
}

TEST(MoreTools, ADeviceWithoutProfilesSaysSo) {
  Agent agent({Tool::compile, Tool::profile});
  agent.device.profiles = false;
  const auto answers = agent.play({compile("def a(): 1"), {"profile_kernel", "{}"}});
  EXPECT_THAT(std::string(answers[1]["error"]), HasSubstr("no profiles"));
}

TEST(MoreTools, DocsAreListedAndReadByLines) {
  Agent agent({Tool::compile, Tool::read_docs});
  const auto answers = agent.play({{"read_docs", "{}"},
                                   {"read_docs", R"({"file":"isa/tensor.md","line":2})"},
                                   {"read_docs", R"({"file":"isa/tensr.md"})"},
                                   {"read_docs", R"({"file":"../../etc/passwd"})"},
                                   {"read_docs", R"({"file":"load.md","line":0})"}});
  EXPECT_EQ(answers[0]["files"], Json::parse(R"([{"file":"isa/tensor.md","lines":2},{"file":"load.md","lines":1}])"));
  EXPECT_EQ(answers[1], Json::parse(R"({"ok":true,"file":"isa/tensor.md","line":2,"lines":2,"text":"nc_matmul\n"})"));
  EXPECT_THAT(std::string(answers[2]["error"]), HasSubstr("did you mean 'isa/tensor.md'?"));
  EXPECT_THAT(std::string(answers[3]["error"]), HasSubstr("no file '../../etc/passwd'"));
  EXPECT_THAT(std::string(answers[4]["error"]), HasSubstr("'line' is 0"));
}

TEST(MoreTools, ALongPageIsReadInPartsThatJoinToTheWhole) {
  jobs::Page page{"long.md", ""};
  for (int i = 0; i < 4000; ++i) page.text += "line \"" + std::to_string(i) + "\"\n";
  std::string whole;
  std::uint32_t line = 1;
  for (int parts = 0; parts < 100; ++parts) {
    const auto text = page_answer(page, line, {});
    ASSERT_LE(text.size(), 16384u);
    const auto answer = Json::parse(text);
    whole += answer["text"];
    if (!answer.contains("next_line")) break;
    line = answer["next_line"];
  }
  EXPECT_EQ(whole, page.text);
  const auto behind = Json::parse(page_answer(page, 5000, {}));
  EXPECT_EQ(behind["text"], "");
  EXPECT_FALSE(behind.contains("next_line"));
}

TEST(MoreTools, ALongListSaysHowManyMoreThereAre) {
  std::vector<jobs::Page> pages;
  for (int i = 0; i < 1000; ++i) pages.push_back({"page-" + std::to_string(i) + std::string(40, 'x'), "t"});
  const auto text = list_answer(pages, {});
  EXPECT_LE(text.size(), 16384u);
  const auto answer = Json::parse(text);
  EXPECT_EQ(answer["files"].size() + static_cast<std::size_t>(answer["not_listed"]), 1000u);
}

TEST(MoreTools, WithoutVerifyCodeWithoutACallIsCompiledAlone) {
  Agent agent({Tool::compile});
  ScriptedModel model({says(test::fence("def a(): 1")), says("done"), says("done")});
  agent.run(model);
  EXPECT_EQ(agent.device.verifies, 0);
  EXPECT_EQ(agent.turn(0).tool_output.find("verify_kernel"), std::string::npos);
  EXPECT_EQ(model.requests[0].messages[1].content.find("verify_kernel"), std::string::npos);
  EXPECT_EQ(agent.end().outcome, Outcome::pass) << "the final check is the harness's own";
}

TEST(MoreTools, AnEpisodeThatIsTakenOverKnowsThemToo) {
  Agent first({Tool::compile, Tool::verify, Tool::profile, Tool::read_docs});
  ScriptedModel model(
      {calls({compile("def a(): 1"), {"profile_kernel", "{}"}, {"read_docs", "{}"}}), calls({verify()})});
  first.run(model);
  Agent second({Tool::compile, Tool::verify, Tool::profile, Tool::read_docs});
  second.history = first.durable(3);
  second.attempt = 2;
  ScriptedModel rest({calls({{"profile_kernel", "{}"}, verify()})});
  second.run(rest);
  EXPECT_EQ(to_lines(rest.requests.at(0).messages), to_lines(model.requests.at(1).messages));
  EXPECT_EQ(answers_of(second.turn(0))[0]["kernel"], "k1");
  EXPECT_EQ(second.end().outcome, Outcome::pass);
}

}  // namespace
}  // namespace nkigrid::agent
