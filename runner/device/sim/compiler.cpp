#include "runner/device/sim/compiler.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "runner/device/sim/tracer_client.hpp"
#include "runner/nkisim/engine/engine.hpp"
#include "runner/nkisim/program/program.hpp"

namespace nkigrid::device {
namespace {

CompileResult failed(Code code, Stage stage, std::string message, std::uint32_t line = 0) {
  CompileResult result;
  result.diagnostic = {code, stage, line, std::move(message)};
  return result;
}

/// A program whose arguments are not the task's: the tracer was given them, so this is a forged program or a fault of
/// ours.
void require_arguments(const nkisim::Program& program, const jobs::Task& task) {
  if (program.params.size() != task.inputs.size()) {
    throw Error(ErrorCode::corrupt, fmt::format("the program takes {} arguments, the task gives {}",
                                                program.params.size(), task.inputs.size()));
  }
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const auto& buffer = program.buffers.at(program.params[i]);
    if (nkisim::to_string(buffer.dtype) != task.inputs[i].dtype || buffer.shape != task.inputs[i].shape) {
      throw Error(ErrorCode::corrupt, fmt::format("argument {} of the program is [{}] {}, the task gives [{}] {}", i,
                                                  fmt::join(buffer.shape, ", "), nkisim::to_string(buffer.dtype),
                                                  fmt::join(task.inputs[i].shape, ", "), task.inputs[i].dtype));
    }
  }
}

CompileResult accept(TracerReply reply, const jobs::Task& task, const std::string& source) {
  try {
    const auto program = nkisim::parse_program(reply.program);
    nkisim::validate(program);
    require_arguments(program, task);
    CompileResult result;
    result.estimate_us = nkisim::estimate_us(program);
    result.artifact = std::make_shared<const Artifact>(Artifact{std::move(reply.program), std::move(reply.entry),
                                                                sha256_hex(source), nkisim::constant_bytes(program)});
    return result;
  } catch (const Error& error) {
    return failed(Code::compiler_internal, Stage::backend,
                  fmt::format("the traced program was refused: {}", error.what()));
  }
}

}  // namespace

CompileAttempt compile_for_simulator(ForkServers& servers, const jobs::NkiOptions& options, const jobs::Task& task,
                                     const std::string& source, const std::optional<std::string>& entry,
                                     Seconds timeout) {
  auto traced = trace_in_child(servers, options, task, source, entry, timeout);
  auto warnings = std::move(traced.reply.warnings);
  CompileAttempt attempt;
  auto& result = attempt.result;
  switch (traced.kind) {
    case TracerResult::Kind::replied:
      if (traced.reply.ok) {
        result = accept(std::move(traced.reply), task, source);
      } else {
        result.diagnostic = std::move(traced.reply.diagnostic);
      }
      break;
    case TracerResult::Kind::denied:
      result = failed(Code::rule_violation, Stage::trace,
                      fmt::format("the kernel was stopped at a forbidden act: {}", traced.words));
      break;
    case TracerResult::Kind::late:
      result = failed(Code::compile_timeout, Stage::trace,
                      fmt::format("the kernel did not compile within {:.0f} s", timeout.count()));
      break;
    case TracerResult::Kind::died:
      result = failed(Code::compiler_internal, Stage::trace,
                      fmt::format("the compiler process ended while it traced the kernel: {}", traced.words));
      attempt.doubt = fmt::format("a tracer child ended ({})", traced.words);
      break;
    case TracerResult::Kind::machinery:
      result = failed(Code::infra, Stage::infra, traced.words.empty() ? "the tracer server is gone" : traced.words);
      break;
  }
  result.warnings = std::move(warnings);
  return attempt;
}

}  // namespace nkigrid::device
