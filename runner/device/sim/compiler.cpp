#include "runner/device/sim/compiler.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "runner/device/sim/tracer_client.hpp"
#include "runner/nkisim/estimate/estimate.hpp"
#include "runner/nkisim/program/parse.hpp"
#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/validate.hpp"

namespace nkigrid::device {
namespace {

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

CompileAttempt accept(CompileReply reply, const jobs::Task& task, const std::string& source) {
  try {
    const auto program = nkisim::parse_program(reply.artifact);
    nkisim::validate(program);
    require_arguments(program, task);
    CompileAttempt attempt;
    attempt.result.estimate_us = nkisim::estimate_us(program);
    attempt.result.artifact = std::make_shared<const Artifact>(Artifact{
        std::move(reply.artifact), std::move(reply.entry), sha256_hex(source), nkisim::constant_bytes(program)});
    return attempt;
  } catch (const Error& error) {
    return failed_compile(Code::compiler_internal, Stage::backend,
                          fmt::format("the traced program was refused: {}", error.what()));
  }
}

CompileAttempt refused(Diagnostic diagnostic) {
  CompileAttempt attempt;
  attempt.result.diagnostic = std::move(diagnostic);
  return attempt;
}

/// What an end of the tracer child means. @param traced its warnings are taken already
CompileAttempt attempt_of(TracerResult traced, const jobs::Task& task, const std::string& source, Seconds timeout) {
  switch (traced.kind) {
    case TracerResult::Kind::replied:
      return traced.reply.ok ? accept(std::move(traced.reply), task, source)
                             : refused(std::move(traced.reply.diagnostic));
    case TracerResult::Kind::denied:
      return failed_compile(Code::rule_violation, Stage::trace,
                            fmt::format("the kernel was stopped at a forbidden act: {}", traced.words));
    case TracerResult::Kind::late:
      return failed_compile(Code::compile_timeout, Stage::trace,
                            fmt::format("the kernel did not compile within {:.0f} s", timeout.count()),
                            "a compile did not end in time");
    case TracerResult::Kind::died:
      return failed_compile(Code::compiler_internal, Stage::trace,
                            fmt::format("the compiler process ended while it traced the kernel: {}", traced.words),
                            fmt::format("a tracer child ended ({})", traced.words));
    case TracerResult::Kind::machinery:
      break;
  }
  return failed_compile(Code::infra, Stage::infra, traced.words.empty() ? "the tracer server is gone" : traced.words);
}

}  // namespace

CompileAttempt compile_for_simulator(ForkServers& servers, const jobs::NkiOptions& options, const jobs::Task& task,
                                     const std::string& source, const std::optional<std::string>& entry,
                                     Seconds timeout) {
  auto traced = trace_in_child(servers, options, task, source, entry, timeout);
  auto warnings = std::move(traced.reply.warnings);
  auto attempt = attempt_of(std::move(traced), task, source, timeout);
  attempt.result.warnings = std::move(warnings);
  return attempt;
}

}  // namespace nkigrid::device
