#include "runner/device/neuron/vendor_compiler.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "runner/proc/child.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kProbeSeconds = 120;  // a cold venv on a network disk

// neuronx-cc 2.N -> SDK. @source the vendor's release notes
constexpr std::array<std::pair<int, std::string_view>, 9> kSdks = {{{18, "2.23"},
                                                                    {19, "2.24"},
                                                                    {20, "2.25"},
                                                                    {21, "2.26"},
                                                                    {22, "2.27"},
                                                                    {23, "2.28"},
                                                                    {24, "2.29"},
                                                                    {26, "2.32"},
                                                                    {28, "2.33"}}};
// From here on neuronxcc.nki.baremetal is reported to return zeros without an error.
constexpr int kFirstSilentMinor = 23;

/// N of "2.N...", or -1.
int minor_of(std::string_view version) {
  if (!version.starts_with("2.")) return -1;
  int minor = -1;
  const auto rest = version.substr(2);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), minor);
  return error == std::errc() ? minor : -1;
}

/// The newest of the images' virtual environments, by when its interpreter was installed.
std::optional<fs::path> newest_python(const fs::path& opt) {
  std::optional<fs::path> newest;
  fs::file_time_type age{};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(opt, ignored)) {
    if (!entry.path().filename().native().starts_with("aws_neuronx_venv_")) continue;
    const auto python = entry.path() / "bin" / "python";
    std::error_code missing;
    const auto time = fs::last_write_time(entry.path() / "bin", missing);
    if (missing || !fs::exists(python, missing)) continue;
    if (!newest || time > age || (time == age && python > *newest)) newest = python, age = time;
  }
  return newest;
}

json probe(const fs::path& python, const fs::path& libexec, const NeuronRoots& roots) {
  auto environment = neuron_environment(python, roots);
  environment.emplace_back("HOME=/nonexistent");
  const auto result =
      proc::run_command({python, "-s", "-B", libexec / "neuron_probe.py"}, Seconds(kProbeSeconds), environment);
  auto answer = json::parse(result.out, nullptr, false);
  if (!proc::is_success(result.end) || answer.is_discarded()) {
    const auto said = result.err.substr(0, result.err.find('\n', 400));
    throw Error(
        ErrorCode::external,
        fmt::format("the interpreter '{}' cannot tell which compiler it has ({}): {}; set device.python to one of the "
                    "Neuron virtual environments",
                    python.native(), proc::describe(result.end), said));
  }
  return answer;
}

std::string text_or_nothing(const json& object, const char* key) {
  const auto& value = object.at(key);
  return value.is_string() ? value.get<std::string>() : "";
}

}  // namespace

std::string sdk_of(std::string_view neuronx_cc_version) {
  const int minor = minor_of(neuronx_cc_version);
  const auto found =
      std::find_if(kSdks.begin(), kSdks.end(), [minor](const auto& entry) { return entry.first == minor; });
  return found == kSdks.end() ? "" : std::string(found->second);
}

std::string compiler_fault(const std::string& version, const std::string& package, const std::string& nki,
                           const std::string& sdk) {
  if (package.ends_with("+nkisim")) {
    return fmt::format(
        "its package neuronxcc is nkigrid's own simulator ({}); take it off that interpreter's path, or use backend "
        "sim",
        package);
  }
  if (minor_of(version) >= kFirstSilentMinor) {
    return fmt::format(
        "neuronx-cc {}{} is too new: from 2.{} on neuronxcc.nki.baremetal is reported to return zeros without an "
        "error, which would be scored as "
        "the models' mistakes; use neuronx-cc 2.19 to 2.21",
        version, nki.empty() ? "" : " (with nki " + nki + ")", kFirstSilentMinor);
  }
  const auto found = sdk_of(version);
  if (found == sdk) return {};
  return fmt::format(
      "neuronx-cc {} belongs to SDK {}, the grid says sdk \"{}\"; set device.sdk or use the virtual environment of "
      "that SDK",
      version, found.empty() ? "(unknown)" : found, sdk);
}

NeuronCompiler find_neuron_compiler(const jobs::NeuronSpec& spec, const std::string& sdk, const fs::path& libexec,
                                    const NeuronRoots& roots) {
  fs::path python = spec.python;
  if (spec.python == "auto") {
    const auto newest = newest_python(roots.opt);
    if (!newest) {
      throw Error(ErrorCode::external, fmt::format("no Neuron virtual environment on this machine (looked for "
                                                   "'{}/aws_neuronx_venv_*/bin/python'); set device.python to "
                                                   "an interpreter that has neuronx-cc, or use backend sim",
                                                   roots.opt.native()));
    }
    python = *newest;
  }
  const auto answer = probe(python, libexec, roots);
  const auto version = text_or_nothing(answer, "neuronx_cc"), package = text_or_nothing(answer, "package");
  if (version.empty() && package.empty()) {
    const auto why = text_or_nothing(answer, "error");
    throw Error(
        ErrorCode::external,
        fmt::format("the interpreter '{}' has no neuronx-cc{}; set device.python to one that has, or use backend sim",
                    python.native(), why.empty() ? "" : " that can be imported (" + why + ")"));
  }
  if (const auto fault = compiler_fault(version, package, text_or_nothing(answer, "nki"), sdk); !fault.empty()) {
    throw Error(ErrorCode::config, fmt::format("the compiler of '{}' cannot be used: {}", python.native(), fault));
  }
  NeuronCompiler compiler{python, version, sdk_of(version), {python, python.parent_path()}};
  for (const auto& folder : answer.at("folders")) compiler.folders.emplace_back(folder.get<std::string>());
  return compiler;
}

}  // namespace nkigrid::device
