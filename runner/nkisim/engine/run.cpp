#include "runner/nkisim/engine/run.hpp"

#include <cblas.h>

#include <cstring>

#include <fmt/format.h>

#include "jobs/base/error.hpp"
#include "runner/nkisim/engine/lower.hpp"
#include "runner/nkisim/engine/machine.hpp"
#include "runner/nkisim/engine/output_poison.hpp"
#include "runner/nkisim/program/words.hpp"

namespace nkigrid::nkisim {
namespace {

std::uint64_t bytes_of(const Buffer& buffer) {
  return static_cast<std::uint64_t>(checked_product(buffer.shape, static_cast<std::int64_t>(size_of(buffer.dtype))));
}

void check_size(const Buffer& buffer, const std::byte* data, std::size_t size, std::string_view what) {
  if (size != bytes_of(buffer)) {
    throw Error(ErrorCode::internal, fmt::format("{} '{}' has {} bytes (its declaration says {})", what, buffer.name,
                                                 size, bytes_of(buffer)));
  }
  if (reinterpret_cast<std::uintptr_t>(data) % size_of(buffer.dtype) != 0) {
    throw Error(ErrorCode::internal, fmt::format("{} '{}' is not aligned to its elements", what, buffer.name));
  }
}

void adopt_inputs(const Program& program, std::span<const std::span<const std::byte>> inputs, Machine& machine) {
  if (inputs.size() != program.params.size()) {
    throw Error(ErrorCode::internal, fmt::format("{} inputs for {} parameters", inputs.size(), program.params.size()));
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    check_size(program.buffers[program.params[k]], inputs[k].data(), inputs[k].size(), "input");
    // Validated programs never write parameters and constants.
    machine.storages[program.params[k]].adopt(const_cast<std::byte*>(inputs[k].data()), false, &machine.budget);
  }
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.kind != BufferKind::constant || buffer.alias_of) continue;
    auto* data = reinterpret_cast<std::byte*>(const_cast<char*>(buffer.data.data()));
    machine.storages[b].adopt(data, false, &machine.budget);
  }
}

/// The first output entry of a root gives it its memory; later entries (aliases) are copied from it at the end.
void adopt_outputs(const Program& program, std::span<const std::span<std::byte>> outputs, Machine& machine) {
  if (outputs.size() != program.outputs.size()) {
    throw Error(ErrorCode::internal,
                fmt::format("memory for {} outputs of {}", outputs.size(), program.outputs.size()));
  }
  const std::vector<bool> read = buffers_read(program);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::uint32_t root = root_of(program, program.outputs[k]);
    check_size(program.buffers[root], outputs[k].data(), outputs[k].size(), "output");
    if (machine.storages[root].adopted() != nullptr) continue;
    // What no operation reads is poisoned after the run, and only where nothing was written.
    if (read[root]) fill_poison(program.buffers[root].dtype, outputs[k], machine.poison);
    machine.storages[root].adopt(outputs[k].data(), true, &machine.budget);
  }
}

/// After the run, or what there was of it: poison where nothing was written; aliases get their root's bytes.
void finish_outputs(const Program& program, std::span<const std::span<std::byte>> outputs, Machine& machine) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::uint32_t root = root_of(program, program.outputs[k]);
    Storage& storage = machine.storages[root];
    const Tile* tile = storage.adopted();
    if (tile == nullptr || tile->written.empty()) {  // stopped before it was set up
      fill_poison(program.buffers[root].dtype, outputs[k], machine.poison);
      continue;
    }
    if (tile->data == outputs[k].data()) {
      poison_unwritten(*tile, program.buffers[root].dtype, storage.tile_bytes, storage.granule, machine.poison);
    } else {
      std::memcpy(outputs[k].data(), tile->data, outputs[k].size());
    }
  }
}

void report_unwritten(const Program& program, Machine& machine, std::size_t k, RunReport& report) {
  const Buffer& buffer = program.buffers[program.outputs[k]];
  Storage& storage = machine.storages[root_of(program, program.outputs[k])];
  const Tile& tile = storage.touch(0, machine.poison, &machine.budget);
  const std::uint64_t each = size_of(buffer.dtype) / std::min<std::uint64_t>(storage.granule, size_of(buffer.dtype));
  const std::uint64_t elements = storage.tile_bytes / size_of(buffer.dtype);
  std::uint64_t missing = 0, first = 0;
  if (count_bits(tile.written, 0, elements * each) != elements * each) {
    for (std::uint64_t e = 0; e < elements; ++e) {
      if (count_bits(tile.written, e * each, each) == each) continue;
      if (missing++ == 0) first = e;
    }
  }
  report.unwritten.push_back(missing);
  if (missing == 0) return;
  report.hints.push_back(fmt::format("output {}: {} of {} elements were never written, first at {}", k, missing,
                                     elements, index_text(buffer.shape, first)));
}

}  // namespace

RunReport run_program(const Program& program, std::span<const std::span<const std::byte>> inputs,
                      std::span<const std::span<std::byte>> outputs, const Poison& poison, const RunOptions& options) {
  openblas_set_num_threads(1);
  RunReport report;
  const bool observed = options.observer != nullptr;
  const Executable executable(program, options.limits.leave_out_copies && !observed, observed);
  Machine machine(program, poison, options.limits.memory_bytes);
  machine.observer = options.observer;
  machine.order = options.order;
  executable.prepare(machine);
  if (options.zeroed) machine.storages[*options.zeroed].zeroed = true;
  try {
    adopt_inputs(program, inputs, machine);
    adopt_outputs(program, outputs, machine);
    executable.run(machine);
  } catch (const Fault& fault) {
    report.code = fault.code;
    report.line = machine.line;
    report.message = fault.message;
    report.unwritten.assign(program.outputs.size(), 0);
    finish_outputs(program, outputs, machine);
    return report;
  }
  finish_outputs(program, outputs, machine);
  for (std::size_t k = 0; k < outputs.size(); ++k) report_unwritten(program, machine, k, report);
  return report;
}

}  // namespace nkigrid::nkisim
