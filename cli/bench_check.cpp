#include "cli/bench_check.hpp"

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "cli/first_line.hpp"
#include "cli/trivial_kernels.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/benchmark/nkigrid_index.hpp"
#include "jobs/run_inputs.hpp"
#include "runner/device/make_device.hpp"
#include "runner/proc/child.hpp"

extern char** environ;

namespace nkigrid::cli {
namespace {

constexpr std::uint64_t kSeed = 1;  ///< of the draws; the verb `kernel` has the same default
constexpr Seconds kProofTimeout{600};

/// What Python needs, and the variables that decide which BLAS kernels run.
std::vector<std::string> proof_environment() {
  std::vector<std::string> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    for (const std::string_view prefix : {"PATH=", "HOME=", "TMPDIR=", "OPENBLAS_", "OMP_"}) {
      if (text.substr(0, prefix.size()) == prefix) kept.emplace_back(text);
    }
  }
  kept.emplace_back("PYTHONDONTWRITEBYTECODE=1");
  return kept;
}

using Faults = std::map<std::string, std::vector<std::string>>;  // task id -> what is wrong

/// The proof against torch of what was read, in our own format. Every task has an entry afterwards.
Faults prove_index(const jobs::Benchmark& benchmark, const jobs::CheckSpec& check,
                   const std::filesystem::path& libexec) {
  const TemporaryDirectory folder;
  jobs::write_inputs(folder.path(), jobs::own_format_files(benchmark));
  const auto result =
      proc::run_command({NKIGRID_PYTHON, libexec / "check_index.py", folder.path(), libexec / "libnkigrid_sandbox.so",
                         check.strict_sandbox ? "strict" : "relaxed"},
                        kProofTimeout, proof_environment(), std::size_t{16} << 20);
  const auto* exited = std::get_if<proc::Exited>(&result.end);
  if (exited == nullptr || exited->status > 1) {
    throw Error(ErrorCode::external,
                fmt::format("the proof of the index {}: {}", proc::describe(result.end), result.err));
  }
  Faults faults;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    const auto found = nlohmann::json::parse(line, nullptr, false);
    if (found.is_discarded() || !found.contains("id") || !found.contains("problems")) {
      throw Error(ErrorCode::external,
                  fmt::format("the proof of the index printed '{}'; is another Python pinned?", line));
    }
    faults[found["id"]] = found["problems"].get<std::vector<std::string>>();
  }
  return faults;
}

void check_known_kernel(const jobs::Benchmark& benchmark, const jobs::Task& task, device::Device& device,
                        std::vector<std::string>& faults) {
  const auto source = benchmark.known_kernel(task.id);
  if (source.empty()) {
    faults.push_back("no known kernel");
    return;
  }
  const auto compiled = device.compile(task, source, std::nullopt);
  if (!compiled.ok()) {
    faults.push_back(fmt::format("the known kernel fails to compile, line {}: {}", compiled.diagnostic.line,
                                 first_line(compiled.diagnostic.message)));
    return;
  }
  const auto verdict = device.final_check(task, *compiled.artifact);
  if (!verdict.paper_ok || !verdict.strict_ok) {
    faults.push_back(fmt::format("the known kernel fails the {} rule: {} (max_abs_err {:g}, rel_l2 {:g})",
                                 verdict.paper_ok ? "strict" : "paper", first_line(verdict.diagnostic.message),
                                 verdict.max_abs_err, verdict.rel_l2));
  }
}

/// A trivial kernel must reach the verdict (it compiles and runs) and be wrong there.
void check_trivial_kernels(const jobs::Task& task, device::Device& device, std::uint32_t trials,
                           std::vector<std::string>& faults) {
  for (const auto& trivial : trivial_kernels(task)) {
    const auto compiled = device.compile(task, trivial.source, std::nullopt);
    if (!compiled.ok()) {
      faults.push_back(
          fmt::format("the kernel '{}' does not compile: {}", trivial.what, first_line(compiled.diagnostic.message)));
      continue;
    }
    const auto verdict = device.verify(task, *compiled.artifact, device::Stream::bench, trials);
    if (verdict.paper_ok) {
      faults.push_back(fmt::format("the kernel '{}' passes", trivial.what));
    } else if (outcome_of(verdict.diagnostic.code, verdict.diagnostic.stage) != Outcome::mismatch) {
      faults.push_back(
          fmt::format("the kernel '{}' was not judged: {}", trivial.what, first_line(verdict.diagnostic.message)));
    }
  }
}

}  // namespace

ExitCode bench_check(const jobs::Benchmark& benchmark) {
  const jobs::CheckSpec check;
  const auto paths = device::default_device_paths();
  const jobs::DeviceSpec spec;
  auto servers = device::start_servers(spec.backend, check, paths, 1);
  auto faults = prove_index(benchmark, check, paths.libexec);
  const auto device = device::make_device(spec, check, kSeed, std::move(servers), paths);
  int failed = 0;
  for (const auto& task : benchmark.tasks) {
    const bool proved = faults.count(task.id) != 0;
    auto& wrong = faults[task.id];
    if (!proved) wrong.push_back("the proof of the index did not reach it");
    check_known_kernel(benchmark, task, *device, wrong);
    check_trivial_kernels(task, *device, check.trials, wrong);
    failed += wrong.empty() ? 0 : 1;
    say("{:<28} {}\n", task.id, wrong.empty() ? "ok" : fmt::format("FAULT {}", fmt::join(wrong, "; ")));
  }
  say("{} tasks, {} with a fault\n", benchmark.tasks.size(), failed);
  return failed == 0 ? ExitCode::done : ExitCode::incomplete;
}

}  // namespace nkigrid::cli
