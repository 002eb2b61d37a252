#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "fixture.hpp"
#include "jobs/base/draws.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::jobs {
namespace {

/// Reads a damaged grid: it is a grid still, or it has problems with places inside the file. @returns whether
/// it is one
bool survives(const Sandbox& box, const std::string& text) {
  box.write("damaged.yaml", text);
  const auto result = read_grid(box.path() / "damaged.yaml", {});
  EXPECT_NE(result.grid.has_value(), !result.problems.empty()) << text;
  const auto lines = static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const auto& problem : result.problems) EXPECT_LE(problem.line, lines) << problem.message << "\n" << text;
  return result.grid.has_value();
}

TEST(DamagedGrid, CutAtEveryLength) {
  const Sandbox box;
  const auto text = box.read("grid.yaml");
  for (std::size_t size = 0; size < text.find("slurm:"); ++size)
    EXPECT_FALSE(survives(box, text.substr(0, size)) && size < text.find("cells:"));
}

TEST(DamagedGrid, RandomBytesNeverCrashAReader) {
  const Sandbox box;
  const auto text = box.read("grid.yaml");
  Draws draws(1);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    auto damaged = text;
    for (std::uint64_t hits = 1 + draws.below(3); hits > 0; --hits) {
      const char byte = "{}[]:,-&*!|>'\"%@`#?\n\t \0a0\x80\xff"[draws.below(27)];
      damaged[draws.below(damaged.size())] = byte;
    }
    refused += !survives(box, damaged);
  }
  EXPECT_GT(refused, 200);
}

/// A grid that uses what refers to something else: contrasts and factors to cells, cells to modes, keys to a kind.
constexpr const char* kReferring = R"(name: referring
benchmark: bench
tasks: all-four
models:
  weak:   {api: synthetic, profile: weak}
  strong: {api: synthetic, profile: strong}
  served: {api: openai, endpoint: "http://h:1/v1", model: m, key: {env: KEY}}
modes:
  ss:    {kind: single-shot}
  multi: {kind: multi-turn, turns: 5, feedback: verify, nudge: again, context: {on_full: stop}}
  agent: {kind: tool-agent, turns: 4, stop_on_pass: false, nudge: again}
prompts: {plain: prompts/plain.md, careful: prompts/careful.md}
device: {backend: neuron, sdk: "2.24", target: trn1, python: auto, cores: [0, 1]}
check: {sandbox: relaxed, compile_timeout: 100 s}
cells:
  - {model: [weak, strong], mode: [ss, agent, multi], prompt: [plain, careful]}
contrasts:
  - {name: tools, a: {mode: agent}, b: {mode: ss}, scope: [all, L1]}
  - {name: size, a: {model: strong}, b: {model: weak}}
factors: {tools: [ss, agent], prompt: [plain, careful]}
slurm: {mem: 64 GiB, time: "00:01:00", warn: 30 s}
)";

TEST(Grid, OneMistakeIsOneProblem) {
  const Sandbox box;
  box.write("referring.yaml", kReferring);
  ASSERT_THAT(lines_of(read_grid(box.path() / "referring.yaml", {})), testing::IsEmpty());
  struct Slip {
    const char *what, *by;
  };
  for (const auto& [what, by] :
       {Slip{"kind: single-shot", "kind: single-shoot"},
        Slip{"kind: multi-turn", "kind: multi_turn"},
        Slip{"kind: tool-agent", "kind: agent"},
        Slip{"kind: tool-agent", "kind: [tool-agent]"},
        Slip{"kind: multi-turn, ", ""},
        Slip{"kind: tool-agent, ", ""},
        Slip{"feedback: verify", "feedback: verfy"},
        Slip{"on_full: stop", "on_full: stp"},
        Slip{"api: openai", "api: opnai"},
        Slip{"api: openai, ", ""},
        Slip{"api: synthetic, profile: weak", "api: synthetik, profile: weak"},
        Slip{"profile: strong", "profile: strang"},
        Slip{"profile: strong", "profile: [strong]"},
        Slip{"backend: neuron", "backend: neurn"},
        Slip{"backend: neuron", "backend: {}"},
        Slip{"sdk: \"2.24\"", "sdk: \"2.42\""},
        Slip{"target: trn1", "target: trn9"},
        Slip{"sandbox: relaxed", "sandbox: off"},
        Slip{"benchmark: bench", "benchmark: bnch"},
        Slip{"benchmark: bench", "benchmark: {path: bench, format: kernelbnch}"},
        Slip{"tasks: all-four", "tasks: all-for"},
        Slip{"tasks: all-four", "tasks: [L1/999_none]"},
        Slip{"tasks: all-four\n", ""},
        Slip{"mode: [ss, agent, multi]", "mode: [ss, agnet, multi]"},
        Slip{"model: [weak, strong]", "model: [weak, strang]"},
        Slip{"prompt: [plain, careful]}\ncontrasts", "prompt: [plain, carful]}\ncontrasts"},
        Slip{"prompts/careful.md", "prompts/carful.md"},
        Slip{"  - {model: [weak, strong], mode: [ss, agent, multi], prompt: [plain, careful]}", "  []"},
        Slip{"  - {model: [weak, strong], mode: [ss, agent, multi], prompt: [plain, careful]}", "  - weak"},
        Slip{"a: {mode: agent}", "a: {mode: agnet}"},
        Slip{"a: {mode: agent}", "a: agent"},
        Slip{"name: tools, a:", "a:"},
        Slip{"scope: [all, L1]", "scope: [all, L7]"},
        Slip{"tools: [ss, agent]", "tools: [ss, agnet]"},
        Slip{"mem: 64 GiB", "mem: [64]"},
        Slip{"time: \"00:01:00\"", "time: 60"},
        Slip{"warn: 30 s", "warn: soon"},
        Slip{"warn: 30 s", "warn: 90 s"}}) {
    SCOPED_TRACE(fmt::format("{} -> {}", what, by));
    std::string text = kReferring;
    const auto at = text.find(what);
    ASSERT_NE(at, std::string::npos);
    box.write("slip.yaml", text.replace(at, std::string_view(what).size(), by));
    EXPECT_THAT(lines_of(read_grid(box.path() / "slip.yaml", {})), testing::SizeIs(1));
  }
}

TEST(Grid, ASectionThatIsNoneHasNoFollowers) {
  const Sandbox box;
  for (const std::string section : {"models:", "modes:", "prompts:"}) {
    SCOPED_TRACE(section);
    std::string text = kReferring;
    const auto begin = text.find("\n" + section) + 1;
    auto end = text.find('\n', begin);
    while (text.compare(end, 3, "\n  ") == 0) end = text.find('\n', end + 1);
    box.write("slip.yaml", text.replace(begin, end - begin, section + " []"));
    EXPECT_THAT(lines_of(read_grid(box.path() / "slip.yaml", {})), testing::SizeIs(1));
  }
}

}  // namespace
}  // namespace nkigrid::jobs
