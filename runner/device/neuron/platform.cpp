#include "runner/device/neuron/platform.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/proc/child.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kProbeSeconds = 120;  // a cold venv on a network disk
constexpr double kListSeconds = 30;
constexpr std::uint32_t kCoresADevice = 2;  // of a Trainium 1 or Inferentia 2 chip

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

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
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

std::string text_of(const json& object, const char* key) {
  const auto& value = object.at(key);
  return value.is_string() ? value.get<std::string>() : "";
}

/// "trn1" of "trn1.32xlarge".
std::string family_of(std::string instance) {
  while (!instance.empty() && (instance.back() == '\n' || instance.back() == ' ')) instance.pop_back();
  return instance.substr(0, instance.find('.'));
}

std::string instance_type(const fs::path& sys) {
  std::error_code ignored;
  const auto file = sys / "devices/virtual/dmi/id/product_name";
  if (!fs::exists(file, ignored)) return "";
  auto name = read_file(file);
  name = name.substr(0, name.find('\n'));
  const auto family = family_of(name);
  const bool known = family == "trn1" || family == "trn1n" || family == "inf2" || family.starts_with("trn2") ||
                     family.starts_with("trn3");
  return known ? name : "";
}

std::vector<fs::path> device_nodes(const fs::path& dev) {
  std::vector<fs::path> nodes;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dev, ignored)) {
    const auto name = entry.path().filename().native();
    if (!name.starts_with("neuron") || name.size() == 6) continue;
    if (std::all_of(name.begin() + 6, name.end(), [](char c) { return c >= '0' && c <= '9'; }))
      nodes.push_back(entry.path());
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::vector<std::uint32_t> first_cores(std::uint32_t count) {
  std::vector<std::uint32_t> cores;
  for (std::uint32_t i = 0; i < count; ++i) cores.push_back(i);
  return cores;
}

/// Cores by `neuron-ls --json-output`: a list of devices, each with nc_count and, in later versions, neuroncore_ids.
std::vector<std::uint32_t> listed_cores(const NeuronRoots& roots) {
  const auto program = roots.opt / "aws/neuron/bin/neuron-ls";
  std::error_code ignored;
  if (!fs::exists(program, ignored)) return {};
  const auto result = proc::run_command({program, "--json-output"}, Seconds(kListSeconds),
                                        neuron_environment("/usr/bin/python3", roots));
  const auto list = json::parse(result.out, nullptr, false);
  if (!proc::is_success(result.end) || !list.is_array()) return {};
  std::vector<std::uint32_t> cores;
  for (const auto& device : list) {
    if (device.contains("neuroncore_ids") && device["neuroncore_ids"].is_array()) {
      for (const auto& id : device["neuroncore_ids"]) cores.push_back(id.get<std::uint32_t>());
    } else {
      const auto count = device.value("nc_count", 0U);
      for (std::uint32_t i = 0; i < count; ++i) cores.push_back(static_cast<std::uint32_t>(cores.size()));
    }
  }
  return cores;
}

std::string platform_of(const NeuronRoots& roots) {
  if (const auto given = variable("NEURON_PLATFORM_TARGET_OVERRIDE"); !given.empty()) return given;
  return family_of(instance_type(roots.sys));
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
        "the models' mistakes; use neuronx-cc 2.19 to 2.22",
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
  const auto version = text_of(answer, "neuronx_cc"), package = text_of(answer, "package");
  if (version.empty() && package.empty()) {
    const auto why = text_of(answer, "error");
    throw Error(
        ErrorCode::external,
        fmt::format("the interpreter '{}' has no neuronx-cc{}; set device.python to one that has, or use backend sim",
                    python.native(), why.empty() ? "" : " that can be imported (" + why + ")"));
  }
  if (const auto fault = compiler_fault(version, package, text_of(answer, "nki"), sdk); !fault.empty()) {
    throw Error(ErrorCode::config, fmt::format("the compiler of '{}' cannot be used: {}", python.native(), fault));
  }
  NeuronCompiler compiler{python, version, sdk_of(version), {python, python.parent_path()}};
  for (const auto& folder : answer.at("folders")) compiler.folders.emplace_back(folder.get<std::string>());
  return compiler;
}

NeuronDevices find_neuron_devices(const jobs::NeuronSpec& spec, const std::string& target, const NeuronRoots& roots) {
  NeuronDevices found;
  found.platform = platform_of(roots);
  found.nodes = device_nodes(roots.dev);
  if (!found.platform.empty() && found.platform != target && !(target == "trn1" && found.platform == "trn1n")) {
    throw Error(
        ErrorCode::config,
        fmt::format("this node is {}, the grid's device.target is {}; run on a node of that kind, or set device.target",
                    found.platform, target));
  }
  const auto instance = instance_type(roots.sys);
  if (!spec.cores.empty()) {
    found.cores = spec.cores;
    found.how = "the grid's device.cores";
  } else if (auto listed = listed_cores(roots); !listed.empty()) {
    found.cores = std::move(listed);
    found.how = "neuron-ls";
  } else if (instance == "trn1.2xlarge" || instance == "trn1.32xlarge" || instance == "trn1n.32xlarge") {
    found.cores = first_cores(instance == "trn1.2xlarge" ? 2 : 32);
    found.how = "instance type " + instance;
  } else if (!found.nodes.empty()) {
    found.cores = first_cores(kCoresADevice * static_cast<std::uint32_t>(found.nodes.size()));
    found.how = (roots.dev / "neuron*").native();
  }
  return found;
}

fs::path find_libnrt(const jobs::NeuronSpec& spec, const NeuronRoots& roots) {
  const fs::path library = spec.libnrt == "auto" ? roots.opt / "aws/neuron/lib/libnrt.so.1" : fs::path(spec.libnrt);
  std::error_code ignored;
  if (fs::exists(library, ignored)) return library;
  throw Error(ErrorCode::external,
              fmt::format("the Neuron runtime '{}' is not there; install aws-neuronx-runtime-lib, or set device.libnrt",
                          library.native()));
}

std::vector<std::string> neuron_environment(const fs::path& python, const NeuronRoots& roots) {
  // Nothing of ours passes but the numeric settings and what site images set for the platform; the cores are given one
  // by one.
  auto variables = proc::numeric_environment();
  for (const char* fixed : {"PYTHONPATH=", "PYTHONHASHSEED=0", "PYTHONNOUSERSITE=1", "PYTHONDONTWRITEBYTECODE=1",
                            "PYTHONSAFEPATH=1", "LANG=C.UTF-8"}) {
    variables.emplace_back(fixed);
  }
  const auto neuron = roots.opt / "aws/neuron";
  variables.push_back(
      fmt::format("PATH={}:{}:/usr/local/bin:/usr/bin:/bin", python.parent_path().native(), (neuron / "bin").native()));
  if (const auto target = variable("NEURON_PLATFORM_TARGET_OVERRIDE"); !target.empty())
    variables.push_back("NEURON_PLATFORM_TARGET_OVERRIDE=" + target);
  return variables;
}

}  // namespace nkigrid::device
