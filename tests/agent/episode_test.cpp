#include <gtest/gtest.h>

#include <cmath>

#include "jobs/base/files.hpp"
#include "jobs/base/hash.hpp"
#include "runner/agent/kernel_steps.hpp"
#include "runner/agent/modes.hpp"
#include "runner/agent/task_message.hpp"
#include "runner/model/chat_json.hpp"
#include "runner/model/wire/openai_reply.hpp"
#include "tests/agent/fakes.hpp"

namespace nkigrid::agent {
namespace {

using jobs::ModeKind;
using model::Finish;
using test::calls;
using test::compile;
using test::Episode;
using test::fence;
using test::kinds;
using test::says;
using test::ScriptedModel;
using test::verify;
using Json = nlohmann::json;

model::ChatReply case_reply(const std::string& name) {
  return model::parse_chat_response(read_file(std::string(NKIGRID_TEST_DATA) + "/cases/" + name)).value();
}

TEST(FirstMessages, HoldThePromptAndTheWholeTask) {
  const Episode episode(ModeKind::tool_agent);
  const auto messages = first_messages(episode.task, episode.prompt, episode.mode);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].content, "You write kernels.");
  const std::string& text = messages[1].content;
  EXPECT_TRUE(text.starts_with("Task: L1/001_add\n"));
  for (const std::string part : {"import torch\n", "- x [4,8] float32\n", "- fc_weight [8,8] float32 (parameter)\n",
                                 "- output0 [4,8] float32\n", "- alpha = 0.5\n", "`@nki.jit`", "compile_kernel"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(FirstMessages, LeaveOutWhatTheBenchmarkSaysToItsOwnChecks) {
  Episode episode(ModeKind::single_shot);
  episode.task.source =
      "# nkigrid: category=loss\n# nkigrid: blind=bfloat16\n# softly\nimport torch\nx = '# nkigrid: x'";
  const std::string text = first_messages(episode.task, episode.prompt, episode.mode)[1].content;
  EXPECT_NE(text.find("```python\n# softly\nimport torch\nx = '# nkigrid: x'\n```\n"), std::string::npos) << text;
}

TEST(SingleShot, OneReplyIsCompiledAndChecked) {
  Episode episode(ModeKind::single_shot);
  ScriptedModel model({says(fence("def a(): 1"))});
  EXPECT_EQ(episode.run(model), EpisodeExit::ended);
  EXPECT_EQ(kinds(episode.records), "BRTE");
  const log::End end = episode.end();
  EXPECT_EQ(end.outcome, Outcome::pass);
  EXPECT_EQ(end.passed, 1);
  EXPECT_EQ(end.best_passed, 1);
  EXPECT_EQ(end.ended_by, EndedBy::turns);
  EXPECT_EQ(end.tokens_in, 100u);
  EXPECT_DOUBLE_EQ(end.cost_usd, (100 * 5 + 10 * 25) / 1e6);
  EXPECT_EQ(episode.device.compiles, 1);
  EXPECT_EQ(episode.device.checked, std::vector<std::string>{"def a(): 1\n"});
  EXPECT_TRUE(model.requests[0].tools.empty());
  EXPECT_EQ(model.requests[0].seed, sampling_seed(episode.grid.seed, "m.mode.naive", "L1/001_add", 1));
}

TEST(SingleShot, WithoutCodeThereIsNoNudge) {
  Episode episode(ModeKind::single_shot);
  ScriptedModel model({says("I would rather talk.")});
  episode.run(model);
  EXPECT_EQ(episode.end().outcome, Outcome::no_code);
  EXPECT_FALSE(episode.end().nudged);
  EXPECT_EQ(episode.turn(0).tool_output, "");
}

TEST(SingleShot, FailuresMapToTheirOutcomes) {
  const std::vector<std::pair<std::string, Outcome>> cases = {
      {"def a(): 1  # compile: DTYPE", Outcome::compile_fail},
      {"def a(): 1  # compile: COMPILE_TIMEOUT", Outcome::compile_timeout},
      {"def a(): 1  # verify: NUMERIC_MISMATCH", Outcome::mismatch},
      {"def a(): 1  # verify: RUNTIME_DEVICE", Outcome::run_fail},
      {"def a(): 1  # final: RULE_VIOLATION", Outcome::cheat},
      {"def a(): 1  # final: INFRA", Outcome::verifier_error},
      {"def a(): 1  # compile: INFRA", Outcome::verifier_error}};
  for (const auto& [source, outcome] : cases) {
    Episode episode(ModeKind::single_shot);
    ScriptedModel model({says(fence(source))});
    episode.run(model);
    EXPECT_EQ(episode.end().outcome, outcome) << source;
    EXPECT_EQ(episode.end().passed, 0);
  }
}

TEST(SingleShot, WhyTheFinalKernelFailedIsInTheEnd) {
  const std::vector<std::tuple<std::string, std::string, std::uint32_t>> cases = {
      {"def a(): 1  # compile: DTYPE", R"({"message":"kernel.py:2: DTYPE"})", 0},
      {"def a(): 1  # final: NUMERIC_MISMATCH",
       R"({"message":"wrong","hints":["look at the tail"],"elements":32,"mismatches":3,)"
       R"("first":{"output":0,"index":[1,2],"got":"nan","want":0.5}})",
       5},
      {"def a(): 1", "", 5}};
  for (const auto& [source, findings, trials] : cases) {
    Episode episode(ModeKind::single_shot);
    ScriptedModel model({says(fence(source))});
    episode.run(model);
    EXPECT_EQ(episode.end().findings, findings);
    EXPECT_EQ(episode.end().trials, trials);
    EXPECT_EQ(episode.end().trials_passed, findings.empty() ? trials : 0);
  }
}

TEST(MultiTurn, CompilerTextIsTheNextMessageUntilItCompiles) {
  Episode episode(ModeKind::multi_turn, 5);
  ScriptedModel model(
      {says(fence("def a(): 1  # compile: DTYPE")), says("hm"), says(fence("def b(): 2  # verify: NUMERIC_MISMATCH"))});
  episode.run(model);
  EXPECT_EQ(episode.end().ended_by, EndedBy::compiled);
  EXPECT_EQ(episode.end().outcome, Outcome::mismatch);
  EXPECT_EQ(episode.device.verifies, 0);
  EXPECT_EQ(model.requests[1].messages.back().content, "kernel.py:2: DTYPE");
  EXPECT_EQ(model.requests[2].messages.back().content, "NUDGE");
  EXPECT_EQ(episode.turn(0).compile_ok, 0);
  EXPECT_EQ(episode.turn(0).code, Code::dtype);
  EXPECT_TRUE(episode.turn(1).nudged);
  EXPECT_TRUE(std::isnan(episode.turn(1).max_abs_err));
}

TEST(MultiTurn, NudgesEveryTimeButNotAfterTheLastTurn) {
  Episode episode(ModeKind::multi_turn, 3);
  ScriptedModel model({says("a"), says("b"), says("c")});
  episode.run(model);
  EXPECT_EQ(episode.turn(0).nudged, true);
  EXPECT_EQ(episode.turn(1).nudged, true);
  EXPECT_EQ(episode.turn(2).nudged, false);
  EXPECT_EQ(episode.end().outcome, Outcome::no_code);
  EXPECT_EQ(episode.end().ended_by, EndedBy::turns);
}

TEST(MultiTurn, FeedbackVerifyGoesOnUntilItPasses) {
  Episode episode(ModeKind::multi_turn, 5);
  episode.mode.feedback_verify = true;
  ScriptedModel model({says(fence("def a(): 1  # verify: NUMERIC_MISMATCH")), says(fence("def b(): 2"))});
  episode.run(model);
  EXPECT_EQ(episode.end().ended_by, EndedBy::verified);
  EXPECT_EQ(episode.end().outcome, Outcome::pass);
  EXPECT_NE(model.requests[1].messages.back().content.find("look at the tail"), std::string::npos);
}

TEST(ToolAgent, CompilesVerifiesAndStops) {
  Episode episode(ModeKind::tool_agent, 10);
  ScriptedModel model(
      {calls({compile("def a(): 1  # compile: OOB")}), calls({compile("def b(): 2"), verify(R"({"trials":2})")})});
  episode.run(model);
  EXPECT_EQ(kinds(episode.records), "BRTRTE");
  EXPECT_EQ(episode.end().ended_by, EndedBy::verified);
  EXPECT_EQ(episode.end().outcome, Outcome::pass);
  EXPECT_EQ(episode.end().turns, 2u);
  EXPECT_EQ(episode.device.last_trials, 2u);
  EXPECT_EQ(episode.device.compiles, 2);  // none for the final check
  EXPECT_EQ(model.requests[0].tools.size(), 2u);
  EXPECT_EQ(episode.turn(1).kernel, "def b(): 2");
  EXPECT_EQ(episode.turn(1).tool_calls, 2u);
}

TEST(ToolAgent, TheTimesOfSeveralVerifiesInOneTurnAddUp) {
  Episode episode(ModeKind::tool_agent, 1);
  episode.mode.stop_on_pass = false;
  episode.device.on_verify = [&] { episode.clock.advance(Seconds(episode.device.verifies)); };  // 1 s, then 2 s
  ScriptedModel model({calls({compile("def a(): 1"), verify(R"({"trials":1})"), verify(R"({"trials":2})")})});
  episode.run(model);
  EXPECT_DOUBLE_EQ(episode.turn(0).verify_s, 3);
}

TEST(MultiTurn, AVerifyAsFeedbackIsTimedInItsTurn) {
  Episode episode(ModeKind::multi_turn, 2);
  episode.mode.feedback_verify = true;
  episode.device.on_verify = [&] { episode.clock.advance(Seconds(2)); };
  ScriptedModel model({says(fence("def a(): 1  # verify: NUMERIC_MISMATCH")), says(fence("def b(): 2"))});
  episode.run(model);
  EXPECT_DOUBLE_EQ(episode.turn(0).verify_s, 2);
  EXPECT_DOUBLE_EQ(episode.turn(1).verify_s, 2);
  EXPECT_EQ(episode.turn(0).code, Code::numeric_mismatch);
  EXPECT_DOUBLE_EQ(episode.turn(0).max_abs_err, 0.5);
}

TEST(ToolAgent, VerifyNeedsACurrentKernel) {
  Episode episode(ModeKind::tool_agent, 1);
  ScriptedModel model({calls({compile("def a(): 1"), compile("def b(): 2  # compile: OOB"), verify()})});
  episode.run(model);
  EXPECT_NE(episode.turn(0).tool_output.find("no compiled kernel"), std::string::npos);
  EXPECT_EQ(episode.device.verifies, 0);
  EXPECT_EQ(episode.end().outcome, Outcome::compile_fail);  // the newest submission counts
}

TEST(ToolAgent, ALaterBreakShowsBetweenFinalAndBest) {
  Episode episode(ModeKind::tool_agent, 2);
  episode.mode.stop_on_pass = false;
  ScriptedModel model(
      {calls({compile("def a(): 1"), verify()}), calls({compile("def b(): 2  # verify: NUMERIC_MISMATCH")})});
  episode.run(model);
  EXPECT_EQ(episode.end().outcome, Outcome::mismatch);
  EXPECT_EQ(episode.end().passed, 0);
  EXPECT_EQ(episode.end().best_passed, 1);
  EXPECT_EQ(episode.device.checked.size(), 2u);
}

TEST(ToolAgent, NudgesOnceAndThenStops) {
  Episode episode(ModeKind::tool_agent, 10);
  ScriptedModel model({says("I think."), says("I still think.")});
  episode.run(model);
  EXPECT_EQ(model.requests[1].messages.back().content, "NUDGE");
  EXPECT_EQ(episode.end().ended_by, EndedBy::stopped);
  EXPECT_EQ(episode.end().outcome, Outcome::no_code);
  EXPECT_TRUE(episode.end().nudged);
}

TEST(ToolAgent, CodeWithoutACallIsSubmittedAsCallsWouldHave) {
  Episode episode(ModeKind::tool_agent, 10);
  ScriptedModel model({says(fence("def a(): 1  # compile: OOB")), says(fence("def b(): 2  # verify: NUMERIC_MISMATCH")),
                       says(fence("def c(): 3"))});
  episode.run(model);
  EXPECT_EQ(episode.end().ended_by, EndedBy::verified);
  EXPECT_EQ(episode.end().outcome, Outcome::pass);
  EXPECT_EQ(episode.end().turns, 3u);
  EXPECT_FALSE(episode.end().nudged);
  EXPECT_EQ(episode.turn(0).flags, "extract=last_fence");  // what the log counts it by
  EXPECT_EQ(episode.turn(1).verify_ok, 0);
  const auto& first = model.requests[1].messages.back();
  EXPECT_EQ(first.role, model::Role::user);
  EXPECT_TRUE(first.content.starts_with("Your reply held a kernel and no tool call; it was submitted"));
  EXPECT_NE(first.content.find("\ncompile_kernel: {\"ok\":false,\"code\":\"OOB\",\"line\":2,"), std::string::npos);
  EXPECT_EQ(first.content.find("verify_kernel"), std::string::npos);
  const auto& second = model.requests[2].messages.back();
  EXPECT_NE(second.content.find("\nverify_kernel: {\"ok\":false,\"kernel\":\"k2\","), std::string::npos);
}

TEST(ToolAgent, CodeWithoutACallEndsTheEpisodeOnlyWhenItPasses) {
  Episode episode(ModeKind::tool_agent, 10);
  episode.mode.stop_on_pass = false;
  ScriptedModel model(
      {calls({compile("def a(): 1")}), says(fence("def b(): 2  # compile: OOB")), says(fence("def c(): 3"))});
  episode.run(model);
  EXPECT_EQ(episode.end().ended_by, EndedBy::stopped);
  EXPECT_EQ(episode.end().outcome, Outcome::pass);
  EXPECT_EQ(episode.end().turns, 3u);
}

TEST(ToolAgent, BadArgumentsAreTheOutcomeWhenNothingElseCame) {
  Episode episode(ModeKind::tool_agent, 1);
  ScriptedModel model({calls({{"compile_kernel", R"({"code":"x"})"}})});
  episode.run(model);
  EXPECT_EQ(episode.turn(0).event, TurnEvent::bad_tool_args);
  EXPECT_EQ(episode.end().outcome, Outcome::bad_tool_args);
}

TEST(ToolAgent, ACutReplysCallsAreNotRunAndDoNotEndTheEpisode) {
  Episode episode(ModeKind::tool_agent, 3);
  ScriptedModel model({case_reply("01_args_cut_mid_string.json"), case_reply("06_reasoning_only_length.json"),
                       says("x = ```", Finish::length)});
  episode.run(model);
  EXPECT_EQ(episode.device.compiles, 0);
  EXPECT_EQ(episode.turn(0).event, TurnEvent::truncated);
  const model::Message& answer = model.requests[1].messages.back();
  EXPECT_EQ(answer.tool_call_id, "call_a1");
  EXPECT_TRUE(answer.is_error);
  EXPECT_NE(answer.content.find("cut off"), std::string::npos);
  EXPECT_EQ(episode.turn(1).event, TurnEvent::truncated);
  EXPECT_FALSE(episode.turn(1).nudged);
  EXPECT_EQ(episode.end().ended_by, EndedBy::turns);
  EXPECT_EQ(episode.end().outcome, Outcome::truncated);
  EXPECT_EQ(episode.end().tokens_out, 4096u + 2048u + 10u);
}

TEST(ToolAgent, AWholeCallOfACutReplyIsRun) {
  Episode episode(ModeKind::tool_agent, 2);
  ScriptedModel model({calls({compile("def a(): 1"), {"compile_kernel", R"({"kernel_source":"def b)"}}, Finish::length),
                       calls({verify()}, Finish::length)});
  episode.run(model);
  EXPECT_EQ(episode.device.compiles, 1);
  EXPECT_NE(model.requests[1].messages.back().content.find("cut off"), std::string::npos);
  EXPECT_EQ(episode.end().ended_by, EndedBy::verified);
  EXPECT_EQ(episode.end().outcome, Outcome::pass);
}

TEST(ToolAgent, DoubleEncodedArgumentsArePeeledAndFlagged) {
  Episode episode(ModeKind::tool_agent, 2);
  ScriptedModel model({calls({{"compile_kernel", R"({"kernel_source":"def a(): 1","entry":"relu_k"})"}}),
                       case_reply("02_args_double_encoded.json")});
  episode.run(model);
  EXPECT_EQ(episode.turn(1).flags, "args_peeled=1");
  EXPECT_EQ(episode.device.last_trials, 5u);
  EXPECT_EQ(episode.end().ended_by, EndedBy::verified);
}

TEST(ToolAgent, ACallLeftInTheTextIsRecoveredUnlessThatIsSwitchedOff) {
  Episode on(ModeKind::tool_agent, 1);
  ScriptedModel model({case_reply("04_call_left_in_text.json")});
  on.run(model);
  EXPECT_EQ(on.turn(0).flags, "call_recovered=text_xml");
  EXPECT_TRUE(on.turn(0).kernel.starts_with("import neuronxcc.nki as nki\nif 1 < 2 and \"</b>\""));
  Episode off(ModeKind::tool_agent, 1);
  off.model_spec.call_recovery = false;
  ScriptedModel same({case_reply("04_call_left_in_text.json")});
  off.run(same);
  EXPECT_EQ(off.end().outcome, Outcome::no_code);
}

TEST(ToolAgent, TwoCallsOfOneReplyAreOneTurnAnsweredInOrder) {
  // The first two blocks of case 05, in no provider's form.
  Episode episode(ModeKind::tool_agent, 2);
  ScriptedModel model({calls({compile("BROKEN(  # compile: PY_SYNTAX"), verify()}), says("done")});
  episode.run(model);
  const auto& messages = model.requests[1].messages;
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_EQ(messages[3].tool_call_id, "c1");
  EXPECT_EQ(messages[4].tool_call_id, "c2");
  EXPECT_TRUE(messages[4].is_error);
  EXPECT_NE(messages[4].content.find("no compiled kernel"), std::string::npos);
}

TEST(ToolAgent, TheSameKernelAgainIsAnsweredWithoutTheDevice) {
  Episode episode(ModeKind::tool_agent, 4);
  const std::string wrong = "def a(): 1  # verify: NUMERIC_MISMATCH";
  ScriptedModel model({calls({compile(wrong), verify()}), calls({compile(wrong), verify()}),
                       calls({compile(wrong), verify(R"({"trials":1})")}), calls({compile("def b(): 2"), verify()})});
  episode.run(model);
  EXPECT_EQ(episode.device.compiles, 2);
  EXPECT_EQ(episode.device.verifies, 3);  // of the wrong one with another number of trials, and of the right one
  EXPECT_EQ(episode.turn(0).flags, "");
  EXPECT_EQ(episode.turn(1).flags, "same_kernel=1");
  EXPECT_EQ(episode.turn(1).verify_ok, 0);
  EXPECT_EQ(episode.turn(1).code, Code::numeric_mismatch);
  // The same words, but for the kernel's number.
  EXPECT_EQ(model.requests[2].messages.back().content.substr(0, 20),
            model.requests[1].messages.back().content.substr(0, 20));
  EXPECT_EQ(episode.turn(3).flags, "");
  EXPECT_EQ(episode.end().outcome, Outcome::pass);
}

TEST(ToolAgent, ATakenOverEpisodeKnowsWhatWasSubmitted) {
  const std::string wrong = "def a(): 1  # verify: NUMERIC_MISMATCH";
  Episode first(ModeKind::tool_agent, 3);
  ScriptedModel model({calls({compile(wrong), verify()}), model::ChatFailure::interrupted});
  first.run(model);
  Episode second(ModeKind::tool_agent, 2);
  second.history = first.durable(first.records.size());
  second.attempt = 2;
  ScriptedModel again({calls({compile(wrong)})});
  second.run(again);
  EXPECT_EQ(second.turn(0).flags, "same_kernel=1");
}

TEST(AnyMode, HasRules) {
  for (const auto& row : jobs::mode_kinds()) EXPECT_EQ(rules_of(row.kind).kind, row.kind) << row.name;
}

TEST(AnyMode, ARefusalEndsTheEpisode) {
  for (const auto& row : jobs::mode_kinds()) {
    Episode episode(row.kind, 5);
    ScriptedModel model({says("no", Finish::refused)});
    episode.run(model);
    EXPECT_EQ(episode.end().outcome, Outcome::refused);
    EXPECT_EQ(episode.end().ended_by, EndedBy::refused);
  }
}

TEST(AnyMode, AFullContextIsAModelOutcomeAndKeepsTheNewestKernel) {
  Episode bare(ModeKind::tool_agent, 5);
  ScriptedModel model({model::ChatFailure::context_full});
  bare.run(model);
  EXPECT_EQ(bare.end().outcome, Outcome::context_full);
  EXPECT_EQ(bare.end().reason, "scripted failure") << "the server's words, for who doubts the verdict";
  Episode late(ModeKind::tool_agent, 5);
  ScriptedModel second({calls({compile("def a(): 1")}), model::ChatFailure::context_full});
  late.run(second);
  EXPECT_EQ(late.end().outcome, Outcome::pass);
  EXPECT_EQ(late.end().ended_by, EndedBy::context_full);
}

/// What a request holds behind its first two messages: the kernels' names.
std::string names_in(const model::ChatRequest& request) {
  std::string names;
  for (const auto& message : request.messages)
    for (const auto& call : message.tool_calls) names += call.arguments.substr(call.arguments.find("def ") + 4, 1);
  return names;
}

struct Trimming : Episode {
  Trimming() : Episode(ModeKind::tool_agent, 6) { mode.trim_on_full = true; }
  static std::vector<ScriptedModel::Step> script() {
    const auto bad = [](const std::string& name) {
      return calls({compile("def " + name + "(): 1  # compile: OOB " + std::string(1000, 'x'))});
    };
    return {bad("a"),
            bad("b"),
            bad("c"),
            bad("d"),
            model::ChatFailure::context_full,
            calls({compile("def e(): 1")}),
            model::ChatFailure::context_full,
            model::ChatFailure::context_full};
  }
};

TEST(AnyMode, AFullContextThatIsTrimmedLosesItsOldestHalf) {
  Trimming episode;
  ScriptedModel model(Trimming::script());
  episode.run(model);
  ASSERT_EQ(model.requests.size(), 8u);
  EXPECT_EQ(names_in(model.requests[4]), "abcd");
  EXPECT_EQ(names_in(model.requests[5]), "cd") << "half of the bytes, in whole exchanges";
  EXPECT_EQ(names_in(model.requests[6]), "cde");
  EXPECT_EQ(names_in(model.requests[7]), "e") << "the newest always stays";
  for (const auto& request : model.requests) {
    EXPECT_EQ(to_lines({request.messages[0], request.messages[1]}),
              to_lines({model.requests[0].messages[0], model.requests[0].messages[1]}));
    if (request.messages.size() > 2) {
      EXPECT_EQ(request.messages[2].role, model::Role::assistant);
    }
  }
  EXPECT_EQ(episode.turn(3).flags, "");
  EXPECT_EQ(episode.turn(4).flags, "trimmed=1");
  EXPECT_EQ(model::parse_reply(episode.all<log::Reply>().at(4).reply).trimmed, 4u) << "two replies, two answers";
  EXPECT_EQ(episode.end().ended_by, EndedBy::context_full) << "nothing more can go";
  EXPECT_EQ(episode.end().outcome, Outcome::pass) << "the newest kernel counts";
}

TEST(AnyMode, WhatWasTrimmedStaysOutAfterATakeover) {
  Trimming whole;
  ScriptedModel model(Trimming::script());
  whole.run(model);
  for (const std::size_t records : {10u, 11u}) {  // its reply alone, or its turn as well
    Trimming again;
    again.attempt = 2;
    again.history = whole.durable(records);
    ScriptedModel rest({model::ChatFailure::context_full, model::ChatFailure::context_full});
    again.run(rest);
    EXPECT_EQ(names_in(rest.requests.at(0)), "cde") << records;
    EXPECT_EQ(again.end().outcome, Outcome::pass);
  }
}

TEST(AnyMode, AMachinesFaultIsNeverTheModels) {
  Episode episode(ModeKind::tool_agent, 5);
  ScriptedModel model({calls({compile("def a(): 1")}), model::ChatFailure::transient});
  episode.run(model);
  EXPECT_EQ(episode.end().outcome, Outcome::api_error);
  EXPECT_EQ(episode.end().reason, "scripted failure");
  Episode fatal(ModeKind::single_shot);
  ScriptedModel quota({model::ChatFailure::fatal});
  EXPECT_THROW(fatal.run(quota), model::ChatError);
  EXPECT_EQ(kinds(fatal.records), "B");
}

TEST(AnyMode, InfraInATurnLeavesTheReplyUnanswered) {
  Episode episode(ModeKind::tool_agent, 5);
  ScriptedModel model(
      {calls({compile("def a(): 1"), verify()}), calls({compile("def b(): 1  # verify: INFRA"), verify()})});
  episode.mode.stop_on_pass = false;
  episode.run(model);
  EXPECT_EQ(kinds(episode.records), "BRTRE");
  EXPECT_EQ(episode.end().outcome, Outcome::verifier_error);
}

TEST(AnyMode, ARunThatMachineryLostIsTheDevicesFaultWhereThereIsOne) {
  test::FakeDevice fake;
  const device::Diagnostic lost{Code::infra, Stage::run, 0, "lost"}, unready{Code::infra, Stage::infra, 0, "unready"};
  EXPECT_EQ(infra_stop(fake, lost).outcome, Outcome::verifier_error);
  fake.hardware = true;
  EXPECT_EQ(infra_stop(fake, lost).outcome, Outcome::device_error);
  EXPECT_EQ(infra_stop(fake, unready).outcome, Outcome::verifier_error);
}

TEST(AnyMode, ADrainStopsBetweenTurnsWithoutAnEnd) {
  Episode episode(ModeKind::tool_agent, 5);
  std::stop_source drain;
  drain.request_stop();
  ScriptedModel model({});
  EXPECT_EQ(episode.run(model, drain.get_token()), EpisodeExit::drained);
  EXPECT_EQ(kinds(episode.records), "B");
  Episode waiting(ModeKind::tool_agent, 5);
  ScriptedModel interrupted({model::ChatFailure::interrupted});
  EXPECT_EQ(waiting.run(interrupted), EpisodeExit::drained);
}

TEST(AnyMode, TheSyntheticModelIsMarked) {
  Episode episode(ModeKind::single_shot);
  model::ChatReply reply = says(fence("def a(): 1"));
  reply.system_fingerprint = model::kSyntheticFingerprint;
  ScriptedModel model({reply});
  episode.run(model);
  EXPECT_TRUE(episode.end().synthetic);
}

}  // namespace
}  // namespace nkigrid::agent
