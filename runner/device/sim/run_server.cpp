// The run server: forks a single-use child for each check, which executes one validated program on inputs from a
// read-only file into shared memory. It never holds inputs, expectations, seeds or keys;
// docs/formats/child_protocol.md.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "runner/device/shared/limits.hpp"
#include "runner/device/shared/output_layout.hpp"
#include "runner/device/shared/run_frames.hpp"
#include "runner/nkisim/diagnose/diagnose.hpp"
#include "runner/nkisim/diagnose/orders.hpp"
#include "runner/nkisim/engine/run.hpp"
#include "runner/nkisim/program/parse.hpp"
#include "runner/nkisim/program/validate.hpp"
#include "runner/proc/frame.hpp"
#include "runner/proc/namespaces.hpp"
#include "runner/proc/sandbox.hpp"
#include "runner/proc/server_loop.hpp"
#include "runner/proc/shared_memory.hpp"

namespace {

using nkigrid::ExitCode;
using nkigrid::Fd;
using nlohmann::json;
namespace device = nkigrid::device;
namespace proc = nkigrid::proc;
namespace nkisim = nkigrid::nkisim;

constexpr int kControl = 3;

/// One check: a program and the memory its outputs go to.
struct Check {
  nkisim::Program program;
  proc::Mapping memory;
  device::OutputLayout layout;
};

Check load(const proc::Frame& frame) {
  Check check;
  check.program = nkisim::parse_program(frame.body);
  nkisim::validate(check.program);
  check.layout = device::layout_of(json::parse(frame.head).at("outputs").get<std::vector<std::size_t>>());
  check.memory = device::outputs_of_first(frame);
  return check;
}

std::vector<std::span<std::byte>> outputs_of(Check& check, std::size_t slot) {
  std::vector<std::span<std::byte>> outputs;
  const auto start = slot * check.layout.slot_bytes;
  for (std::size_t i = 0; i < check.layout.bytes.size(); ++i)
    outputs.push_back(check.memory.writable().subspan(start + check.layout.offsets[i], check.layout.bytes[i]));
  return outputs;
}

/// The engine has a poison of its own: this is the edge where ours becomes it.
nkisim::Poison poison_of(const device::RunFrame& run) { return {run.poison.nan_bits, run.poison.int_byte}; }

json answer_to(const device::IntoSlot& asked, Check& check, const device::RunFrame& run) {
  const auto outputs = outputs_of(check, asked.slot);
  const auto report = nkisim::run_program(check.program, run.inputs, outputs, poison_of(run));
  return {{"code", nkigrid::to_string(report.code)},
          {"line", report.line},
          {"message", report.message},
          {"hints", report.hints},
          {"unwritten", report.unwritten}};
}

json answer_to(const device::Explain&, Check& check, const device::RunFrame& run) {
  auto found = nkisim::diagnose(check.program, run.inputs, poison_of(run));
  return {{"causes", std::move(found.causes)}, {"narrow", std::move(found.narrow)}};
}

json answer_to(const device::CompareOrders& asked, Check& check, const device::RunFrame& run) {
  json findings = json::array();
  for (const auto& found : nkisim::compare_orders(check.program, run.inputs, poison_of(run), asked.seed)) {
    findings.push_back(
        {{"line", found.line}, {"loop", found.loop}, {"rounding", found.is_rounding}, {"text", found.text}});
  }
  return {{"orders", std::move(findings)}};
}

json answer(Check& check, const proc::Frame& frame) {
  const auto run = device::parse_run(frame);
  return std::visit([&](const auto& asked) { return answer_to(asked, check, run); }, run.question);
}

/// @returns the exit status
int say_error(const Fd& work, std::string_view words) {
  const json reply = {{"error", words}};
  proc::write_frame(work.get(), reply.dump(-1, ' ', false, json::error_handler_t::replace), {}, {},
                    proc::deadline_after(10));
  return static_cast<int>(ExitCode::external);
}

/// Serves frames until the parent closes. @returns the exit status
int check_in_child(const proc::Sandbox& sandbox, const proc::SandboxLimits& limits, Fd work) {
  try {
    const std::array<int, 1> keep = {work.get()};
    sandbox.enter(limits, keep);
    const auto forever = proc::deadline_after(device::kForeverSeconds);
    auto first = proc::read_frame(work.get(), forever);
    if (first.end != proc::ReadEnd::frame) return 0;
    auto check = load(first.frame);
    first = {};
    for (;;) {
      const auto next = proc::read_frame(work.get(), forever);
      if (next.end != proc::ReadEnd::frame) return 0;
      const auto reply = answer(check, next.frame).dump(-1, ' ', false, json::error_handler_t::replace);
      if (!proc::write_frame(work.get(), reply, {}, {}, forever)) return 0;
    }
  } catch (const std::bad_alloc&) {
    return say_error(work, fmt::format("out of memory (a run has {} MiB)", limits.address_space_bytes >> 20));
  } catch (const std::exception& error) {
    return say_error(work, error.what());
  }
}

}  // namespace

// usage: nkigrid_run_server strict|relaxed MEMORY_BYTES
int main(int argc, char** argv) {
  if (argc != 3) return static_cast<int>(ExitCode::usage);
  try {
    const auto level = std::string_view(argv[1]) == "strict" ? proc::SandboxLevel::strict : proc::SandboxLevel::relaxed;
    const proc::SandboxLimits limits{std::strtoull(argv[2], nullptr, 10), 0};
    proc::leave_namespaces();
    const proc::Sandbox sandbox(proc::SandboxProfile::engine, level, {});
    if (!proc::send_packet(kControl, "ready", {})) return static_cast<int>(ExitCode::external);
    return proc::serve_forks(kControl, [&](Fd work) { return check_in_child(sandbox, limits, std::move(work)); });
  } catch (const std::exception& error) {
    const std::string text = std::string(error.what()) + "\n";
    static_cast<void>(!::write(2, text.data(), text.size()));
    return static_cast<int>(ExitCode::external);
  }
}
