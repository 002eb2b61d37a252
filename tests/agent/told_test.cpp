#include <gtest/gtest.h>

#include "runner/agent/told.hpp"
#include "tests/agent/fakes.hpp"

namespace nkigrid::agent {
namespace {

using jobs::ModeKind;
using test::Episode;
using test::fence;
using test::says;
using test::ScriptedModel;

/// A failure as the tracer words it.
device::Diagnostic explained() {
  return {Code::partition_limit, Stage::trace, 3,
          "ValueError: 256 partitions (kernel.py:3)\n  src: [256, 64] float32 in hbm\n  rule: at most 128\n"
          "  fix: write\n    for i in nl.affine_range(2):\nInfo on how to fix: https://..."};
}

TEST(Diagnostics, PlainOnesAreTheCompilersOwnWords) {
  device::CompileResult failed;
  failed.diagnostic = explained();
  EXPECT_EQ(told(failed, jobs::Diagnostics::explained).diagnostic.message, explained().message);
  EXPECT_EQ(
      told(failed, jobs::Diagnostics::plain).diagnostic.message,
      "ValueError: 256 partitions (kernel.py:3)\n  src: [256, 64] float32 in hbm\nInfo on how to fix: https://...");
  failed.diagnostic.message.clear();
  EXPECT_EQ(told(failed, jobs::Diagnostics::plain).diagnostic.message, "");
}

TEST(Diagnostics, PlainOnesOfTheVerifierHaveNoHints) {
  for (const auto kind : {ModeKind::multi_turn, ModeKind::tool_agent}) {
    for (const auto diagnostics : {jobs::Diagnostics::explained, jobs::Diagnostics::plain}) {
      Episode episode(kind, 2);
      episode.mode.feedback_verify = kind == ModeKind::multi_turn;
      episode.mode.tools.diagnostics = diagnostics;
      ScriptedModel model({says(fence("def a(): 1  # verify: NUMERIC_MISMATCH")), says(fence("def b(): 2"))});
      episode.run(model);
      const auto& told = model.requests[1].messages.back().content;
      EXPECT_NE(told.find("wrong"), std::string::npos);
      EXPECT_EQ(told.find("look at the tail") != std::string::npos, diagnostics == jobs::Diagnostics::explained);
    }
  }
}

}  // namespace
}  // namespace nkigrid::agent
