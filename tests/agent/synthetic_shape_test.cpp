#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "runner/model/synthetic/faults.hpp"
#include "runner/model/synthetic/synthetic.hpp"
#include "tests/agent/fakes.hpp"

namespace nkigrid::agent {
namespace {

using jobs::ModeKind;

const jobs::Benchmark& benchmark() {
  static const jobs::Benchmark loaded =
      jobs::load_benchmark({std::filesystem::path(NKIGRID_SOURCE_DIR) / "configs" / "nkigen-bench"});
  return loaded;
}

class Synthetic final : public model::ChatModel {
 public:
  explicit Synthetic(const std::string& profile)
      : profile_(model::load_profile(std::filesystem::path(NKIGRID_SOURCE_DIR) / "configs" / "profiles", profile)) {}
  model::ChatReply complete(const model::ChatRequest& request, std::stop_token) override {
    return model::synthetic_reply(profile_, benchmark(), request);
  }

 private:
  model::Profile profile_;
};

/// Right is the known kernel and nothing else. A wrong one fails as the first fault whose edit it could hold would:
/// with the fault's code at compile time, or in its numbers.
class KnownKernelDevice final : public device::Device {
 public:
  device::CompileResult compile(const jobs::Task& task, const std::string& source,
                                const std::optional<std::string>&) override {
    device::CompileResult result;
    const std::string known = benchmark().known_kernel(task.id);
    for (const model::Fault& fault : model::all_faults()) {
      if (fault.codes.empty() || fault.codes.front() == Code::non_finite_uninit) continue;
      if (source == known || !names(fault, task, source)) continue;
      result.diagnostic = {fault.codes.front(), Stage::trace, 0, "kernel.py: error"};
      return result;
    }
    result.artifact = std::make_shared<device::Artifact>(device::Artifact{source, "kernel", "", 0});
    return result;
  }
  device::VerifyResult verify(const jobs::Task& task, const device::Artifact& artifact, device::Stream,
                              std::uint32_t trials) override {
    device::VerifyResult result;
    result.trials = trials;
    result.paper_ok = artifact.bytes == benchmark().known_kernel(task.id);
    if (!result.paper_ok) result.diagnostic = {Code::numeric_mismatch, Stage::verify, 0, ""};
    return result;
  }
  device::VerifyResult final_check(const jobs::Task& task, const device::Artifact& artifact) override {
    return verify(task, artifact, device::Stream::final_check, 5);
  }
  std::string backend() const override { return "sim"; }
  std::string compiler() const override { return "fake"; }

 private:
  /// The lines that a fault's edit can make of a known kernel, at any place, and that the kernel does not have.
  using Lines = std::vector<std::string>;
  const Lines& lines_of(const model::Fault& fault, const jobs::Task& task) {
    const auto [it, fresh] = lines_.try_emplace({fault.name, task.id});
    if (!fresh) return it->second;
    const std::string known = benchmark().known_kernel(task.id);
    for (std::uint64_t pick = 0; pick < 24; ++pick) {
      const auto broken = fault.apply(known, pick);
      if (!broken) break;
      const auto ends = std::mismatch(broken->begin(), broken->end(), known.begin(), known.end());
      const auto begin = static_cast<std::size_t>(ends.first - broken->begin());
      const std::size_t line = broken->rfind('\n', begin) + 1;
      std::string text = broken->substr(line, broken->find('\n', begin) + 1 - line);
      if (known.find(text) == std::string::npos) it->second.push_back(std::move(text));
    }
    return it->second;
  }

  bool names(const model::Fault& fault, const jobs::Task& task, const std::string& source) {
    const Lines& lines = lines_of(fault, task);
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return source.find(line) != std::string::npos; });
  }

  std::map<std::pair<std::string_view, std::string>, Lines> lines_;
};

/// Share of passes over the demo's tasks of a level, four replicates each.
double rate(const std::string& profile, ModeKind kind, std::uint32_t turns, const std::string& level) {
  Synthetic model(profile);
  KnownKernelDevice device;
  jobs::Grid grid;
  jobs::ModelSpec spec;
  jobs::ModeSpec mode;
  mode.kind = kind;
  if (kind == ModeKind::tool_agent) mode.tools.offer = jobs::usual_tools();
  mode.turns = turns;
  mode.nudge = "NUDGE";
  const jobs::PromptSpec prompt{"p", "", "prompt"};
  const ManualClock clock;
  int passed = 0, all = 0;
  for (const std::string& id : benchmark().subsets.at("nkigen-demo")) {
    const jobs::Task& task = *benchmark().find(id);
    if (task.level != level) continue;
    for (std::uint32_t replicate = 1; replicate <= 4; ++replicate, ++all) {
      const EpisodeJob job{{{profile + "." + std::to_string(turns) + ".p", task.id, replicate}, "k", 1},
                           grid,
                           spec,
                           mode,
                           prompt,
                           task,
                           {},
                           "n",
                           0};
      run_episode(job, model, device,
                  [&](const log::Record& record) {
                    if (const auto* end = std::get_if<log::End>(&record)) passed += end->passed;
                  },
                  clock, {});
    }
  }
  return static_cast<double>(passed) / all;
}

TEST(SyntheticShape, ToolsHelpOnFusedTasksAndModelPartsAndRawTextDoesNot) {
  for (const std::string profile : {"novice", "expert"}) {
    for (const std::string level : {"L1", "L2", "L3"}) {
      const double shot = rate(profile, ModeKind::single_shot, 1, level);
      const double text = rate(profile, ModeKind::multi_turn, 5, level);
      const double tools = rate(profile, ModeKind::tool_agent, 10, level);
      RecordProperty(profile + level, std::to_string(shot) + " " + std::to_string(text) + " " + std::to_string(tools));
      std::printf("%s %s: single shot %.2f, multi-turn %.2f, agent %.2f\n", profile.c_str(), level.c_str(), shot, text,
                  tools);
      EXPECT_LT(std::abs(text - shot), 0.25) << profile << level;
      if (level != "L1") {
        EXPECT_GT(tools, shot + 0.10) << profile << level;
      } else if (profile == "novice") {
        EXPECT_LT(std::abs(tools - shot), 0.25);
      }
    }
  }
}

}  // namespace
}  // namespace nkigrid::agent
