#include "runner/device/check/canary.hpp"

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid::device {
namespace {

constexpr std::size_t kRows = 64, kCols = 96, kInner = 32;
constexpr double kTimeoutSeconds = 60;

constexpr const char* kSource = R"(import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b, c):
    out = nl.ndarray((64, 96), dtype=nl.float32, buffer=nl.shared_hbm)
    product = nl.matmul(nl.load(a), nl.load(b), transpose_x=True)
    nl.store(out, nl.add(product, nl.load(c)))
    return out
)";

}  // namespace

jobs::Task canary_task() {
  jobs::Task task;
  task.id = "canary/matmul_add";
  task.inputs = {{"a", {kInner, kRows}, "float32", "input"},
                 {"b", {kInner, kCols}, "float32", "input"},
                 {"c", {kRows, kCols}, "float32", "input"}};
  task.outputs = {{"out", {kRows, kCols}, "float32", "output"}};
  return task;
}

namespace {

/// Small integers: every product and sum is exact in float32.
float a_at(std::size_t k, std::size_t m) { return static_cast<float>((3 * k + m) % 7) - 3; }
float b_at(std::size_t k, std::size_t n) { return static_cast<float>((k + 5 * n) % 11) - 5; }
float c_at(std::size_t m, std::size_t n) { return static_cast<float>((m + n) % 13); }

float want_at(std::size_t m, std::size_t n) {
  float sum = 0;
  for (std::size_t k = 0; k < kInner; ++k) sum += a_at(k, m) * b_at(k, n);
  return sum + c_at(m, n);
}

TensorFile canary_arguments() {
  std::vector<float> values;
  for (std::size_t k = 0; k < kInner; ++k)
    for (std::size_t m = 0; m < kRows; ++m) values.push_back(a_at(k, m));
  for (std::size_t k = 0; k < kInner; ++k)
    for (std::size_t n = 0; n < kCols; ++n) values.push_back(b_at(k, n));
  for (std::size_t m = 0; m < kRows; ++m)
    for (std::size_t n = 0; n < kCols; ++n) values.push_back(c_at(m, n));
  TensorFile file;
  const auto size = values.size() * sizeof(float);
  file.fd = proc::make_shared_memory("nkigrid-canary", size);
  write_all(file.fd.get(), {reinterpret_cast<const char*>(values.data()), size}, "canary");
  file.mapping = proc::Mapping::map(file.fd.get(), size, proc::Mapping::Access::read_only);
  std::size_t offset = 0;
  for (const auto& input : canary_task().inputs) {
    const auto bytes = static_cast<std::size_t>(input.shape[0] * input.shape[1]) * sizeof(float);
    file.tensors.push_back({input.dtype, input.shape, offset, bytes});
    offset += bytes;
  }
  return file;
}

std::string check_numbers(std::span<const std::byte> bytes) {
  for (std::size_t m = 0; m < kRows; ++m) {
    for (std::size_t n = 0; n < kCols; ++n) {
      float got = 0;
      std::memcpy(&got, bytes.data() + (m * kCols + n) * sizeof(float), sizeof got);
      if (got != want_at(m, n)) return fmt::format("element [{}, {}] is {}, not {}", m, n, got, want_at(m, n));
    }
  }
  return {};
}

std::string failure_of(const CompileResult& compiled) {
  return compiled.ok() ? std::string() : fmt::format("it does not compile: {}", compiled.diagnostic.message);
}

}  // namespace

std::string canary_source() { return kSource; }

CompileResult compile_canary(Backend& backend) {
  return backend.compile(canary_task(), kSource, std::nullopt, Seconds(kTimeoutSeconds)).result;
}

std::string canary_failure_in(Session& session) {
  const auto outcome = session.run(canary_arguments(), 0, {}, Seconds(kTimeoutSeconds));
  if (outcome.kind == RunOutcome::Kind::late) return fmt::format("it did not finish within {:.0f} s", kTimeoutSeconds);
  if (outcome.kind != RunOutcome::Kind::ran) return fmt::format("its run child ended: {}", outcome.words);
  if (outcome.report.code != Code::none) return fmt::format("it does not run: {}", outcome.report.message);
  return check_numbers(session.output(0, 0));
}

std::string Canary::compile_failure() const {
  try {
    return failure_of(compile_canary(backend_));
  } catch (const Error& error) {
    return error.what();
  }
}

std::string Canary::failure() const {
  try {
    const auto compiled = compile_canary(backend_);
    if (!compiled.ok()) return failure_of(compiled);
    return canary_failure_in(*backend_.open(canary_task(), *compiled.artifact));
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace nkigrid::device
