#include "cli/bench_proof.hpp"

#include <chrono>
#include <cmath>
#include <sstream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/first_line.hpp"
#include "cli/trivial_kernels.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/benchmark/nkigrid_index.hpp"
#include "jobs/run_inputs.hpp"
#include "runner/device/values.hpp"
#include "runner/proc/child.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::cli {
namespace {

constexpr Seconds kProofTimeout{3600};
constexpr double kHbmBytesPerMicrosecond = 16 * 27.2e3;  ///< 16 DMA engines of 27.2 GB/s: task_work.py has it too

/// Tasks of a benchmark as one of their own.
jobs::Benchmark part_of(const jobs::Benchmark& benchmark, const std::vector<const jobs::Task*>& tasks) {
  jobs::Benchmark part;
  part.name = benchmark.name;
  for (const auto* task : tasks) part.tasks.push_back(*task);
  return part;
}

TaskProof proof_of(const nlohmann::json& line) {
  TaskProof proof;
  proof.id = line.at("id").get<std::string>();
  proof.faults = line.at("problems").get<std::vector<std::string>>();
  proof.tried = line.at("answers").get<std::map<std::string, std::uint64_t>>();
  proof.integer_values = line.at("integer_values").get<std::size_t>();
  proof.reference_s = line.at("reference_s").get<double>();
  return proof;
}

std::map<std::string, TaskProof> read_proofs(const std::string& text) {
  std::map<std::string, TaskProof> proofs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    try {
      auto proof = proof_of(nlohmann::json::parse(line));
      proofs[proof.id] = std::move(proof);
    } catch (const nlohmann::json::exception&) {
      throw Error(ErrorCode::external,
                  fmt::format("the proof of the index printed '{}'; is another Python pinned?", line));
    }
  }
  return proofs;
}

/// What no kernel beats may not be evidence of how fast one is: the model behind the number is wrong there.
void judge_estimate(double estimate_us, TaskProof& proof) {
  if (std::isnan(estimate_us)) return;
  if (estimate_us >= proof.roofline_us) {
    proof.estimate_us = estimate_us;
    return;
  }
  proof.notes.push_back(fmt::format("estimate {:.3g} us refused as evidence: under the roofline, {:.3g} us",
                                    estimate_us, proof.roofline_us));
}

void prove_known_kernel(const jobs::Task& task, const std::string& source, device::Device& device, TaskProof& proof) {
  const auto compiled = device.compile(task, source, std::nullopt);
  if (!compiled.ok()) {
    proof.faults.push_back(fmt::format("the known kernel fails to compile, line {}: {}", compiled.diagnostic.line,
                                       first_line(compiled.diagnostic.message)));
    return;
  }
  const auto verdict = device.final_check(task, *compiled.artifact);
  judge_estimate(compiled.estimate_us, proof);
  if (!verdict.paper_ok || !verdict.strict_ok) {
    proof.faults.push_back(fmt::format("the known kernel fails the {} rule: {} (max_abs_err {:g}, rel_l2 {:g})",
                                       verdict.paper_ok ? "strict" : "paper", first_line(verdict.diagnostic.message),
                                       verdict.max_abs_err, verdict.rel_l2));
  }
}

/// A trivial kernel must reach the verdict (it compiles and runs) and be wrong there.
void prove_trivial_kernels(const jobs::Task& task, device::Device& device, std::uint32_t trials, TaskProof& proof) {
  for (const auto& trivial : trivial_kernels(task)) {
    ++proof.tried["kernels"];
    const auto compiled = device.compile(task, trivial.source, std::nullopt);
    if (!compiled.ok()) {
      proof.faults.push_back(
          fmt::format("the kernel '{}' does not compile: {}", trivial.what, first_line(compiled.diagnostic.message)));
      continue;
    }
    const auto verdict = device.verify(task, *compiled.artifact, device::Stream::bench, trials);
    if (verdict.paper_ok) {
      proof.faults.push_back(fmt::format("the kernel '{}' passes", trivial.what));
    } else if (outcome_of(verdict.diagnostic.code, verdict.diagnostic.stage) != Outcome::mismatch) {
      proof.faults.push_back(
          fmt::format("the kernel '{}' was not judged: {}", trivial.what, first_line(verdict.diagnostic.message)));
    }
  }
}

}  // namespace

double hbm_floor_us(const jobs::Task& task) {
  double bytes = 0;
  for (const auto* tensors : {&task.inputs, &task.outputs}) {
    for (const auto& tensor : *tensors) bytes += static_cast<double>(device::bytes_of(tensor));
  }
  return bytes / kHbmBytesPerMicrosecond;
}

double roofline_us_of(const jobs::Benchmark& benchmark, const jobs::Task& task) {
  const auto about = benchmark.about.find(task.id);
  return about == benchmark.about.end() ? hbm_floor_us(task) : about->second.roofline_us;
}

std::vector<TaskProof> prove_against_torch(const jobs::Benchmark& benchmark,
                                           const std::vector<const jobs::Task*>& tasks, const jobs::CheckSpec& check,
                                           const std::filesystem::path& libexec) {
  const TemporaryDirectory folder;
  jobs::write_inputs(folder.path(), jobs::own_format_files(part_of(benchmark, tasks)));
  auto environment = proc::numeric_environment();
  environment.emplace_back("LANG=C.UTF-8");
  const auto result =
      proc::run_command({NKIGRID_PYTHON, "-s", "-B", libexec / "check_index.py", folder.path(),
                         libexec / "libnkigrid_sandbox.so", check.strict_sandbox ? "strict" : "relaxed"},
                        kProofTimeout, environment, std::size_t{16} << 20, folder.path());
  const auto* exited = std::get_if<proc::Exited>(&result.end);
  if (exited == nullptr || exited->status > 1) {
    throw Error(ErrorCode::external,
                fmt::format("the proof of the index {}: {}", proc::describe(result.end), result.err));
  }
  auto found = read_proofs(result.out);
  std::vector<TaskProof> proofs;
  for (const auto* task : tasks) {
    auto& proof = found[task->id];
    if (proof.id.empty()) proof.faults.emplace_back("the proof of the index did not reach it");
    proof.id = task->id;
    proof.roofline_us = roofline_us_of(benchmark, *task);
    proofs.push_back(proof);
  }
  return proofs;
}

void prove_on_device(const jobs::Task& task, const std::string& known, device::Device& device, std::uint32_t trials,
                     TaskProof& proof) {
  proof.known_kernel = !known.empty();
  const auto start = std::chrono::steady_clock::now();
  if (proof.known_kernel) prove_known_kernel(task, known, device, proof);
  proof.kernel_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  prove_trivial_kernels(task, device, trials, proof);
}

}  // namespace nkigrid::cli
