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
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "runner/nkisim/diagnose/diagnose.hpp"
#include "runner/nkisim/engine/engine.hpp"
#include "runner/proc/frame.hpp"
#include "runner/proc/namespaces.hpp"
#include "runner/proc/sandbox.hpp"
#include "runner/proc/server_loop.hpp"
#include "runner/proc/shared_memory.hpp"

namespace {

using nkigrid::Fd;
using nlohmann::json;
namespace proc = nkigrid::proc;
namespace nkisim = nkigrid::nkisim;

constexpr int kControl = 3;
// Deadlines are the parent's: it cancels a child that is late. A child that is forgotten dies with its server.
constexpr double kForever = 86400;

/// One check: a program and the memory its outputs go to.
struct Check {
  nkisim::Program program;
  proc::Mapping memory;
  std::vector<std::size_t> output_bytes;
  std::size_t slot_bytes = 0;
};

Check load(const proc::Frame& frame) {
  const auto head = json::parse(frame.head);
  Check check;
  check.program = nkisim::parse_program(frame.body);
  nkisim::validate(check.program);
  check.output_bytes = head.at("outputs").get<std::vector<std::size_t>>();
  check.slot_bytes = head.at("slot_bytes").get<std::size_t>();
  const auto size = check.slot_bytes * head.at("slots").get<std::size_t>();
  check.memory = proc::Mapping::map(frame.descriptors.at(0).get(), size, proc::Mapping::Access::read_write);
  return check;
}

std::vector<std::span<std::byte>> outputs_of(Check& check, std::size_t slot) {
  std::vector<std::span<std::byte>> outputs;
  std::size_t offset = slot * check.slot_bytes;
  for (const auto size : check.output_bytes) {
    outputs.push_back(check.memory.writable().subspan(offset, size));
    offset += (size + 63) / 64 * 64;
  }
  return outputs;
}

using Inputs = std::vector<std::span<const std::byte>>;

json run_into_slot(Check& check, const json& head, const Inputs& inputs, const nkisim::Poison& poison) {
  const auto outputs = outputs_of(check, head.at("slot").get<std::size_t>());
  const auto report = nkisim::run_program(check.program, inputs, outputs, poison);
  return {{"code", nkigrid::to_string(report.code)},
          {"line", report.line},
          {"message", report.message},
          {"hints", report.hints},
          {"unwritten", report.unwritten}};
}

json diagnosis(const Check& check, const Inputs& inputs, const nkisim::Poison& poison) {
  auto found = nkisim::diagnose(check.program, inputs, poison);
  return {{"causes", std::move(found.causes)}, {"narrow", std::move(found.narrow)}};
}

json orders(const Check& check, const Inputs& inputs, const nkisim::Poison& poison, std::uint64_t seed) {
  json findings = json::array();
  for (const auto& found : nkisim::compare_orders(check.program, inputs, poison, seed)) {
    findings.push_back(
        {{"line", found.line}, {"loop", found.loop}, {"rounding", found.is_rounding}, {"text", found.text}});
  }
  return {{"orders", std::move(findings)}};
}

json answer(Check& check, const proc::Frame& frame) {
  const auto head = json::parse(frame.head);
  const auto file = proc::Mapping::map(frame.descriptors.at(0).get(), head.at("file_bytes").get<std::size_t>(),
                                       proc::Mapping::Access::read_only);
  Inputs inputs;
  for (const auto& place : head.at("inputs")) {
    inputs.push_back(file.bytes().subspan(place.at(0).get<std::size_t>(), place.at(1).get<std::size_t>()));
  }
  const nkisim::Poison poison{head.at("nan_bits").get<std::uint32_t>(), head.at("int_byte").get<std::uint8_t>()};
  if (head.contains("diagnose")) return diagnosis(check, inputs, poison);
  if (head.contains("orders")) return orders(check, inputs, poison, head.at("orders").get<std::uint64_t>());
  return run_into_slot(check, head, inputs, poison);
}

/// @returns the exit status
int say_error(const Fd& work, std::string_view words) {
  const json reply = {{"error", words}};
  proc::write_frame(work.get(), reply.dump(-1, ' ', false, json::error_handler_t::replace), {}, {},
                    proc::deadline_after(10));
  return 4;
}

/// Serves frames until the parent closes. @returns the exit status
int check_in_child(const proc::Sandbox& sandbox, const proc::SandboxLimits& limits, Fd work) {
  try {
    const std::array<int, 1> keep = {work.get()};
    sandbox.enter(limits, keep);
    const auto forever = proc::deadline_after(kForever);
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
  if (argc != 3) return 2;
  try {
    const auto level = std::string_view(argv[1]) == "strict" ? proc::SandboxLevel::strict : proc::SandboxLevel::relaxed;
    const proc::SandboxLimits limits{std::strtoull(argv[2], nullptr, 10), 0};
    proc::leave_namespaces();
    const proc::Sandbox sandbox(proc::SandboxProfile::engine, level, {});
    if (!proc::send_packet(kControl, "ready", {})) return 1;
    return proc::serve_forks(kControl, [&](Fd work) { return check_in_child(sandbox, limits, std::move(work)); });
  } catch (const std::exception& error) {
    const std::string text = std::string(error.what()) + "\n";
    static_cast<void>(!::write(2, text.data(), text.size()));
    return 1;
  }
}
