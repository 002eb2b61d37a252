// The run server: forks a single-use child for each check, which executes one validated program on inputs from a
// read-only file into shared memory. It never holds inputs, expectations, seeds or keys;
// docs/formats/child_protocol.md.
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
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

/// Serves frames until the parent closes. @param fault why the child may not @returns the exit status
int check_in_child(const std::string& fault, std::uint64_t memory_bytes, Fd work) {
  if (!fault.empty()) return say_error(work, fault);
  try {
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
    return say_error(work, fmt::format("out of memory (a run has {} MiB)", memory_bytes >> 20));
  } catch (const std::exception& error) {
    return say_error(work, error.what());
  }
}

/// What a trial gives back serves the next one of its child: fresh pages are what a small run would spend its time on.
void keep_freed_memory() {
  constexpr int kMostAtOnce = 32 << 20;  // glibc takes no more
  ::mallopt(M_MMAP_THRESHOLD, kMostAtOnce);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

/// Pages for the tiles of a small kernel, which the heap keeps.
void touch_heap() {
  constexpr std::size_t kTiles = 2 << 20;
  if (void* pages = std::malloc(kTiles)) {
    ::explicit_bzero(pages, kTiles);
    std::free(pages);
  }
}

/// What a child does before it has a job. @returns why it may not have one, "" when it may
std::string prepare_child(const proc::Sandbox& sandbox, const proc::SandboxLimits& limits, int work) {
  try {
    sandbox.enter(limits, {&work, 1});
    touch_heap();
    return "";
  } catch (const std::exception& error) {
    return error.what();
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
    keep_freed_memory();
    const proc::Sandbox sandbox(proc::SandboxProfile::engine, level, {});
    if (!proc::send_packet(kControl, "ready", {})) return static_cast<int>(ExitCode::external);
    std::string fault;  // of the child that is being made, in the child
    return proc::serve_forks(
        kControl, {[&](int work) { fault = prepare_child(sandbox, limits, work); },
                   [&](Fd work) { return check_in_child(fault, limits.address_space_bytes, std::move(work)); }});
  } catch (const std::exception& error) {
    const std::string text = std::string(error.what()) + "\n";
    static_cast<void>(!::write(2, text.data(), text.size()));
    return static_cast<int>(ExitCode::external);
  }
}
