#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/benchmarks.hpp"
#include "cli/grids.hpp"
#include "cli/json_text.hpp"
#include "cli/kernel_profile.hpp"
#include "cli/own_rights.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"
#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/device/check/reference.hpp"
#include "runner/device/make_device.hpp"

namespace nkigrid::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct KernelOptions {
  std::string file, task, entry, device_grid;
  std::string profile;  ///< file for the timeline; empty: no profile is wanted
  std::string backend = std::string(jobs::name_of(jobs::BackendSpec{}));
  std::string benchmark = "nkigen-bench";
  std::uint64_t seed = 1;
  std::uint64_t shuffle_seed = 1;
  bool relaxed = false, json = false, quiet = false, shuffle = false, trust = false;
};

/// The device that the options name: a backend with its defaults, or all that a grid says of it.
jobs::DeviceSpec device_of(const KernelOptions& options) {
  if (options.device_grid.empty()) return {{}, jobs::backend_named(options.backend)};
  return open_grid_to_use(options.device_grid, {}, jobs::UsedPart::device, options.trust).device;
}

ordered_json word(std::string_view text) { return text.empty() ? ordered_json(nullptr) : ordered_json(text); }

struct Verdict {
  device::CompileResult compile;
  std::optional<device::VerifyResult> verify;
  device::Inspection inspection;
  Outcome outcome = Outcome::pass;
  std::optional<nkisim::KernelProfile> profile;
};

Outcome outcome_of(const Verdict& verdict) {
  const auto& diagnostic = verdict.verify ? verdict.verify->diagnostic : verdict.compile.diagnostic;
  return diagnostic.code == Code::none ? Outcome::pass : nkigrid::outcome_of(diagnostic.code, diagnostic.stage);
}

ordered_json to_json(const std::optional<device::Mismatch>& found) {
  if (!found) return nullptr;
  return {{"output", found->output}, {"index", found->index}, {"got", found->got}, {"want", found->want}};
}

ordered_json to_json(const Verdict& verdict) {
  const auto& compile = verdict.compile;
  const auto& why = compile.diagnostic;
  ordered_json out;
  out["version"] = 1;
  out["compile"] = {{"ok", compile.ok()},
                    {"code", word(to_string(why.code))},
                    {"group", word(group_of(why.code))},
                    {"stage", word(to_string(why.stage))},
                    {"message", why.message},
                    {"line", why.line},
                    {"seconds", compile.seconds},
                    {"warnings", compile.warnings}};
  out["verify"] = nullptr;
  if (verdict.verify) {
    const auto& verify = *verdict.verify;
    out["verify"] = {{"ok", verify.paper_ok},
                     {"strict_ok", verify.strict_ok},
                     {"code", word(to_string(verify.diagnostic.code))},
                     {"message", verify.diagnostic.message},
                     {"max_abs_err", verify.max_abs_err},
                     {"rel_l2", verify.rel_l2},
                     {"trials", verify.trials},
                     {"passed", verify.trials_passed},
                     {"first", to_json(verify.first)},
                     {"worst", to_json(verify.worst)},
                     {"hints", verify.hints},
                     {"seconds", verify.seconds}};
  }
  out["notes"] = verdict.inspection.notes;
  out["orders"] = verdict.inspection.orders ? ordered_json(*verdict.inspection.orders) : ordered_json(nullptr);
  out["estimate_us"] = compile.ok() ? ordered_json(compile.estimate_us) : ordered_json(nullptr);
  if (verdict.profile) out["profile"] = nkisim::to_json(*verdict.profile);
  out["outcome"] = to_string(verdict.outcome);
  return out;
}

void print_diagnostic(const device::Diagnostic& diagnostic) {
  say("  {} at stage {}", to_string(diagnostic.code), to_string(diagnostic.stage));
  if (diagnostic.line > 0) say(", kernel.py line {}", diagnostic.line);
  say("\n  {}\n", diagnostic.message);
}

void print_text(const Verdict& verdict) {
  const auto& compile = verdict.compile;
  say("compile: {} ({:.0f} ms)\n", compile.ok() ? "ok" : "failed", 1e3 * compile.seconds);
  for (const auto& warning : compile.warnings) say("  {}\n", warning);
  if (!compile.ok()) print_diagnostic(compile.diagnostic);
  if (verdict.verify) {
    const auto& verify = *verdict.verify;
    say("verify:  {} by the paper rule, {} by the strict one, {} of {} trials ({:.0f} ms)\n",
        verify.paper_ok ? "ok" : "failed", verify.strict_ok ? "ok" : "failed", verify.trials_passed, verify.trials,
        1e3 * verify.seconds);
    say("  max_abs_err {:.3g}, rel_l2 {:.3g}\n", verify.max_abs_err, verify.rel_l2);
    if (verify.diagnostic.code != Code::none) print_diagnostic(verify.diagnostic);
    for (const auto& hint : verify.hints) say("  hint: {}\n", hint);
  }
  for (const auto& note : verdict.inspection.notes) say("note: {}\n", note);
  if (const auto& orders = verdict.inspection.orders) {
    for (const auto& finding : *orders) say("orders: {}\n", finding);
    if (orders->empty()) say("orders: every order of the affine_range loops gives the same bytes\n");
  }
  if (compile.ok() && std::isfinite(compile.estimate_us))
    say("estimate: {:.1f} us on one NeuronCore\n", compile.estimate_us);
  if (verdict.profile) print_profile(*verdict.profile);
  say("outcome: {}\n", to_string(verdict.outcome));
}

ExitCode exit_code_of(const Verdict& verdict) {
  if (verdict.outcome == Outcome::pass) return ExitCode::done;
  if (is_scored(verdict.outcome)) return ExitCode::incomplete;
  const auto& diagnostic = verdict.verify ? verdict.verify->diagnostic : verdict.compile.diagnostic;
  throw Error(ErrorCode::external, fmt::format("the check itself failed: {}", diagnostic.message));
}

/// Notes are for kernels that pass: a failing one has its hints.
void look_inside(device::Device& device, const jobs::Task& task, const KernelOptions& options, Verdict& verdict) {
  const bool passed = verdict.outcome == Outcome::pass;
  const auto code = verdict.verify ? verdict.verify->diagnostic.code : Code::none;
  const bool ran = passed || code == Code::numeric_mismatch || code == Code::non_finite_uninit;
  if (!ran || (!passed && !options.shuffle)) return;
  verdict.inspection = device.inspect(task, *verdict.compile.artifact,
                                      options.shuffle ? std::optional(options.shuffle_seed) : std::nullopt);
  if (!passed) verdict.inspection.notes.clear();
  if (options.shuffle && !verdict.inspection.orders) {
    throw Error(
        ErrorCode::config,
        fmt::format("--shuffle-loops: the {} backend could not run this kernel in another order; leave the option out",
                    device.backend()));
  }
}

ExitCode check_kernel(const KernelOptions& options) {
  jobs::CheckSpec check;
  check.strict_sandbox = !options.relaxed;
  const auto source = read_file(options.file);
  const auto benchmark = open_benchmark(options.benchmark);
  const auto& task = task_of(benchmark, options.task);
  const auto paths = device::default_device_paths();
  const auto spec = device_of(options);
  if (!options.profile.empty() && !std::holds_alternative<jobs::SimSpec>(spec.backend)) {
    throw Error(ErrorCode::usage, fmt::format("--profile '{}' (only the sim backend's programs can be looked into); "
                                              "leave it out, or use --backend sim",
                                              options.profile));
  }
  auto servers = device::start_servers(spec.backend, check, paths, 1);
  const auto device =
      device::make_device(spec, check, {options.seed, device::secret_of_node(paths.cache)}, std::move(servers), paths);
  Verdict verdict;
  verdict.compile = device->compile(task, source, options.entry.empty() ? std::nullopt : std::optional(options.entry));
  if (verdict.compile.ok()) verdict.verify = device->final_check(task, *verdict.compile.artifact);
  verdict.outcome = outcome_of(verdict);
  if (verdict.compile.ok() && is_scored(verdict.outcome)) look_inside(*device, task, options, verdict);
  if (!options.profile.empty() && verdict.compile.ok()) {
    verdict.profile = nkisim::profile_kernel(verdict.compile.artifact->bytes);
    write_file_atomic(options.profile, nkisim::trace_events(*verdict.profile));
  }
  if (options.json) {
    fmt::print("{}", json_text(to_json(verdict)));
  } else if (!options.quiet) {
    print_text(verdict);
  }
  return exit_code_of(verdict);
}

}  // namespace

Verb kernel_verb() {
  return {"kernel", "compiles and verifies one kernel file by hand; exit 0 when the paper rule passes",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<KernelOptions>();
            app.add_option("file", options->file, "kernel file (Python)")->required()->type_name("FILE");
            app.add_option("--task", options->task, "task id, e.g. L1/002_gelu")->required()->type_name("ID");
            app.add_option("--benchmark", options->benchmark, "folder, or a name under configs/")
                ->type_name("B")
                ->capture_default_str();
            app.add_option("--backend", options->backend, "device backend")->type_name("NAME")->capture_default_str();
            app.add_option("--device-grid", options->device_grid,
                           "a grid whose device section to use, e.g. one with backend command")
                ->type_name("GRID")
                ->excludes("--backend");
            app.add_option("--entry", options->entry, "kernel function, if the file has several")->type_name("NAME");
            want_whole(app.add_option("--seed", options->seed, "run seed of the draws")->capture_default_str(), 0,
                       UINT64_MAX);
            app.add_flag("--shuffle-loops", options->shuffle,
                         "also run affine_range loops reversed and shuffled, and say what that changes");
            want_whole(app.add_option("--shuffle-seed", options->shuffle_seed, "seed of the shuffled order")
                           ->capture_default_str(),
                       0, UINT64_MAX);
            app.add_option("--profile", options->profile,
                           "say where the estimated time goes, and write its timeline (chrome://tracing, Perfetto) to "
                           "FILE")
                ->type_name("FILE");
            app.add_flag("--relaxed-sandbox", options->relaxed,
                         "run with the parts of the sandbox that this machine has");
            add_trust_option(app, options->trust);
            app.add_flag("--json", options->json, "machine-readable, on stdout");
            app.add_flag("-q,--quiet", options->quiet, "exit code only");
            return [options] { return check_kernel(*options); };
          }};
}

}  // namespace nkigrid::cli
