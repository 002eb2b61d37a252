// What a check makes of a backend that behaves badly: by a backend of three lines, which needs no child.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "runner/device/backend.hpp"
#include "runner/device/check/checked_device.hpp"
#include "tests/device/small_task.hpp"

namespace nkigrid::device {
namespace {

std::vector<float> floats_of(const TensorFile& file, std::size_t tensor) {
  const auto bytes = file.bytes_of(tensor);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Computes the canary's a^T b + c and the small task's 2 x + weight, and then does as its artifact says.
class ToySession final : public Session {
 public:
  explicit ToySession(std::string manner) : manner_(std::move(manner)) {}

  RunOutcome run(const TensorFile& arguments, std::size_t slot, const Poison& poison, Seconds) override {
    ++runs_;
    if (!expected_.empty()) {
      EXPECT_EQ(expected_.front(), std::pair(&arguments, slot)) << "another run than was expected";
      expected_.pop_front();
    }
    if (manner_ == "late") return {RunOutcome::Kind::late, {}, {}};
    auto& out = outputs_[slot] = arguments.tensors.size() == 3 ? matmul_add(arguments) : twice_and_add(arguments);
    if (manner_ == "zeros") out.assign(out.size(), 0.0F);
    if (manner_ == "noise") out[0] += 1e-6F * static_cast<float>(runs_);
    if (manner_ == "poison") out[0] += poison.int_byte == 0xa5 ? 0.0F : 1e-6F;
    RunOutcome outcome{RunOutcome::Kind::ran, {}, {}};
    outcome.report.unwritten = {0};
    return outcome;
  }

  void expect(const TensorFile& arguments, std::size_t slot, const Poison&) override {
    expected_.emplace_back(&arguments, slot);
  }

  std::span<const std::byte> output(std::size_t slot, std::size_t) const override {
    for (const auto& run : expected_) EXPECT_NE(run.second, slot) << "it may be written to by now";
    return std::as_bytes(std::span(outputs_[slot]));
  }

 private:
  static std::vector<float> twice_and_add(const TensorFile& arguments) {
    auto x = floats_of(arguments, 0);
    const auto weight = floats_of(arguments, 1);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * x[i] + weight[i];
    return x;
  }

  static std::vector<float> matmul_add(const TensorFile& arguments) {
    const auto a = floats_of(arguments, 0), b = floats_of(arguments, 1);
    auto c = floats_of(arguments, 2);
    const auto inner = static_cast<std::size_t>(arguments.tensors[0].shape[0]),
               rows = static_cast<std::size_t>(arguments.tensors[0].shape[1]);
    const auto cols = static_cast<std::size_t>(arguments.tensors[1].shape[1]);
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t m = 0; m < rows; ++m)
        for (std::size_t n = 0; n < cols; ++n) c[m * cols + n] += a[k * rows + m] * b[k * cols + n];
    return c;
  }

  std::string manner_;
  int runs_ = 0;
  std::deque<std::pair<const TensorFile*, std::size_t>> expected_;
  std::vector<float> outputs_[kSlots];
};

/// The source is the manner. `broken`: from the second canary on, the device gives zeros.
class ToyBackend final : public Backend {
 public:
  ToyBackend(bool doubts, bool broken) : doubts_(doubts), broken_(broken) {}

  CompileAttempt compile(const jobs::Task& task, const std::string& source, const std::optional<std::string>&,
                         Seconds) override {
    CompileAttempt attempt;
    const bool canary = task.id.rfind("canary/", 0) == 0;
    const auto manner = !canary ? source : broken_ && canaries_++ > 0 ? "zeros" : "well";
    attempt.result.artifact = std::make_shared<const Artifact>(Artifact{manner, "kernel", {}, 0});
    return attempt;
  }
  std::unique_ptr<Session> open(const jobs::Task&, const Artifact& artifact) override {
    return std::make_unique<ToySession>(artifact.bytes);
  }
  bool may_be_at_fault() const override { return doubts_; }
  std::string name() const override { return "toy"; }
  std::string compiler() const override { return "toy 1"; }

 private:
  bool doubts_, broken_;
  int canaries_ = 0;
};

VerifyResult check(const std::string& manner, bool doubts = false, bool broken = false) {
  const auto device = make_checked_device(std::make_unique<ToyBackend>(doubts, broken), {}, 7, test_paths());
  return device->final_check(small_task(), *device->compile(small_task(), manner, std::nullopt).artifact);
}

TEST(Checker, ADeviceThatRepeatsItsBytesIsStrictlyRight) {
  const auto result = check("well");
  EXPECT_TRUE(result.paper_ok && result.strict_ok) << result.diagnostic.message;
}

TEST(Checker, OutputThatFollowsThePoisonIsEvidence) {
  const auto result = check("poison");
  EXPECT_FALSE(result.paper_ok || result.strict_ok);
  EXPECT_EQ(result.diagnostic.code, Code::rule_violation);
}

TEST(Checker, ADeviceThatNeverRepeatsItsBytesProvesNothingButIsNotStrict) {
  const auto result = check("noise");
  EXPECT_TRUE(result.paper_ok) << result.diagnostic.message;
  EXPECT_FALSE(result.strict_ok);
  EXPECT_EQ(result.diagnostic.code, Code::none);
}

TEST(Checker, ZerosAreTheKernelsWhereTheDeviceIsBeyondDoubtOrPassesItsCanary) {
  EXPECT_EQ(check("zeros").diagnostic.code, Code::numeric_mismatch);
  EXPECT_EQ(check("zeros", true).diagnostic.code, Code::numeric_mismatch);
}

TEST(Checker, ZerosAndLateEndsAreTheMachinesWhereTheCanaryFails) {
  EXPECT_EQ(check("zeros", true, true).diagnostic.code, Code::infra);
  EXPECT_EQ(check("late", true, true).diagnostic.code, Code::infra);
  EXPECT_EQ(check("late", true).diagnostic.code, Code::runtime_device);
}

}  // namespace
}  // namespace nkigrid::device
