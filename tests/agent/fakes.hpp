#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/agent/agent.hpp"

namespace nkigrid::test {

/// A model that plays replies or failures in order and keeps what it was asked.
class ScriptedModel final : public model::ChatModel {
 public:
  using Step = std::variant<model::ChatReply, model::ChatFailure>;
  explicit ScriptedModel(std::vector<Step> steps) : steps_(steps.begin(), steps.end()) {}

  model::ChatReply complete(const model::ChatRequest& request, std::stop_token) override {
    requests.push_back(request);
    if (steps_.empty()) throw std::logic_error("the script has no more replies");
    const Step step = steps_.front();
    steps_.pop_front();
    if (const auto* failure = std::get_if<model::ChatFailure>(&step))
      throw model::ChatError(*failure, "scripted failure");
    return std::get<model::ChatReply>(step);
  }

  std::vector<model::ChatRequest> requests;

 private:
  std::deque<Step> steps_;
};

/// A device whose verdicts are written in the source: a line `# compile: CODE LINE` or `# verify: CODE` fails it there.
class FakeDevice final : public device::Device {
 public:
  device::CompileResult compile(const jobs::Task&, const std::string& source,
                                const std::optional<std::string>& entry) override {
    ++compiles;
    device::CompileResult result;
    result.estimate_us = 7;
    if (const auto code = mark(source, "# compile: ")) {
      result.diagnostic = {*code, *code == Code::infra ? Stage::infra : Stage::trace, 2,
                           "kernel.py:2: " + std::string(to_string(*code))};
    } else {
      result.artifact = std::make_shared<device::Artifact>(device::Artifact{source, entry.value_or("kernel"), "", 0});
      if (source.find("# warn") != std::string::npos) result.warnings = {"warning (not blocking): slow"};
    }
    return result;
  }

  device::VerifyResult verify(const jobs::Task&, const device::Artifact& artifact, device::Stream stream,
                              std::uint32_t trials) override {
    EXPECT_EQ(stream, device::Stream::tool);
    ++verifies;
    if (on_verify) on_verify();
    last_trials = trials;
    return verdict(artifact.bytes, trials);
  }

  device::VerifyResult final_check(const jobs::Task&, const device::Artifact& artifact) override {
    checked.push_back(artifact.bytes);
    device::VerifyResult result = verdict(artifact.bytes, 5);
    if (const auto code = mark(artifact.bytes, "# final: ")) result = failed(*code, 5);
    result.strict_ok = result.paper_ok;
    return result;
  }

  std::optional<std::string> profile(const device::Artifact& artifact) override {
    profiled.push_back(artifact.bytes);
    return profiles ? std::optional<std::string>(R"({"estimate_us":7.5,"bound":"dma"})") : std::nullopt;
  }

  bool is_hardware() const override { return hardware; }
  std::string backend() const override { return "sim"; }
  std::string compiler() const override { return "fake"; }

  bool hardware = false, profiles = true;
  std::vector<std::string> profiled;
  int compiles = 0, verifies = 0;
  std::function<void()> on_verify;  ///< what time a verify takes
  std::uint32_t last_trials = 0;
  std::vector<std::string> checked;

 private:
  static std::optional<Code> mark(const std::string& source, const std::string& what) {
    const std::size_t at = source.find(what);
    if (at == std::string::npos) return std::nullopt;
    const std::size_t begin = at + what.size();
    return parse_code(source.substr(begin, source.find_first_of(" \n", begin) - begin));
  }
  static device::VerifyResult failed(Code code, std::uint32_t trials) {
    device::VerifyResult result;
    result.diagnostic = {code, code == Code::infra ? Stage::infra : Stage::verify, 0, "wrong"};
    result.trials = trials;
    result.max_abs_err = 0.5;
    result.elements = 32;
    result.mismatches = 3;
    result.first = device::Mismatch{0, {1, 2}, std::numeric_limits<double>::quiet_NaN(), 0.5};
    result.hints = {"look at the tail"};
    return result;
  }
  static device::VerifyResult verdict(const std::string& source, std::uint32_t trials) {
    if (const auto code = mark(source, "# verify: ")) return failed(*code, trials);
    device::VerifyResult result;
    result.paper_ok = true;
    result.trials = result.trials_passed = trials;
    result.max_abs_err = 1e-6;
    return result;
  }
};

inline model::ChatReply says(const std::string& text, model::Finish finish = model::Finish::stop) {
  model::ChatReply reply;
  reply.message = {model::Role::assistant, text, {}, "", false};
  reply.finish = finish;
  reply.usage = {100, 10, 0};
  return reply;
}

inline std::string fence(const std::string& code) { return "Here:\n```python\n" + code + "\n```\n"; }

inline model::ChatReply calls(std::vector<std::pair<std::string, std::string>> calls,
                              model::Finish finish = model::Finish::tool_calls) {
  model::ChatReply reply = says("", finish);
  for (auto& [name, arguments] : calls) {
    reply.message.tool_calls.push_back({"c" + std::to_string(reply.message.tool_calls.size() + 1), name, arguments});
  }
  return reply;
}

inline std::pair<std::string, std::string> compile(const std::string& source) {
  return {"compile_kernel", nlohmann::json{{"kernel_source", source}}.dump()};
}
inline std::pair<std::string, std::string> verify(const std::string& arguments = "{}") {
  return {"verify_kernel", arguments};
}

/// An episode in one place: its grid, its log, and how to run it.
struct Episode {
  jobs::Grid grid;
  jobs::ModelSpec model_spec;
  jobs::ModeSpec mode;
  jobs::PromptSpec prompt{"naive", "", "You write kernels."};
  jobs::Task task;
  std::vector<log::LoggedTurn> history;
  std::uint32_t attempt = 1;
  std::vector<log::Record> records;
  FakeDevice device;
  ManualClock clock;

  explicit Episode(jobs::ModeKind kind, std::uint32_t turns = 1) {
    mode.name = "mode";
    mode.kind = kind;
    mode.turns = turns;
    if (kind == jobs::ModeKind::tool_agent) mode.tools.offer = jobs::usual_tools();
    mode.nudge = "NUDGE";
    model_spec.price = jobs::Price{5, 25};
    task.id = "L1/001_add";
    task.level = "L1";
    task.category = "elementwise";
    task.source = "import torch\n";
    task.inputs = {{"x", {4, 8}, "float32", "input"}, {"fc_weight", {8, 8}, "float32", "parameter"}};
    task.outputs = {{"", {4, 8}, "float32", "output"}};
    task.constants = {{"alpha", "0.5"}};
  }

  agent::EpisodeExit run(model::ChatModel& model, std::stop_token drain = {}) {
    const agent::EpisodeJob job{{{"m.mode.naive", task.id, 1}, "00112233aabbccdd", attempt},
                                grid,
                                model_spec,
                                mode,
                                prompt,
                                task,
                                history,
                                "node1",
                                3};
    return agent::run_episode(
        job, model, device, [this](const log::Record& record) { records.push_back(record); }, clock, drain);
  }

  template <class Record>
  std::vector<Record> all() const {
    std::vector<Record> found;
    for (const auto& record : records) {
      if (const auto* item = std::get_if<Record>(&record)) found.push_back(*item);
    }
    return found;
  }
  log::End end() const { return all<log::End>().at(0); }
  log::Turn turn(std::size_t i) const { return all<log::Turn>().at(i); }

  /// What a reader of the log would hand to the next attempt, with the first `n` records durable.
  std::vector<log::LoggedTurn> durable(std::size_t n) const {
    std::vector<log::LoggedTurn> turns = history;
    for (std::size_t i = 0; i < n; ++i) {
      if (const auto* reply = std::get_if<log::Reply>(&records[i])) {
        if (!turns.empty() && !turns.back().turn) turns.pop_back();
        turns.push_back({*reply, std::nullopt});
      }
      if (const auto* turn = std::get_if<log::Turn>(&records[i])) turns.back().turn = *turn;
    }
    return turns;
  }
};

/// Record kinds as letters: Begin, Reply, Turn, End.
inline std::string kinds(const std::vector<log::Record>& records) {
  std::string text;
  for (const auto& record : records) text += "BRTE"[record.index()];
  return text;
}

}  // namespace nkigrid::test
