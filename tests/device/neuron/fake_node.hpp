#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "jobs/base/files.hpp"
#include "runner/device/backend.hpp"
#include "runner/device/check/checked_device.hpp"
#include "runner/device/neuron/backend.hpp"
#include "tests/device/small_task.hpp"

namespace nkigrid::device {

/// A Trainium node made of stand-ins: an interpreter with a compiler, a runtime, device files, leases of its own.
class FakeNode {
 public:
  FakeNode() {
    namespace fs = std::filesystem;
    for (const char* name : {"control", "dev", "cores-parent"}) fs::create_directory(path(name));
    std::ofstream(path("dev/neuron0"));
    write_python(std::string(NKIGRID_SOURCE_DIR) + "/tests/device/neuron/fake:" + NKIGRID_BUILD_DIR + "/nkisim");
    fs::create_symlink(NKIGRID_FAKE_NRT, path("libnrt.so.1"));
    ::setenv("NKIGRID_CORES", path("cores-parent/cores").c_str(), 1);
    spec.python = path("python");
    spec.libnrt = path("libnrt.so.1");
    spec.cores = {0};
    roots = {path("opt"), path("sys"), path("dev")};
  }
  ~FakeNode() { ::unsetenv("NKIGRID_CORES"); }

  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  /// An interpreter whose modules come from `python_path`, as those of a virtual environment do.
  void write_python(const std::string& python_path) {
    std::ofstream(path("python")) << "#!/bin/sh\nexport FAKE_NEURON=" << folder_.path().native()
                                  << " PYTHONPATH=" << python_path << "\nexec /usr/bin/python3 \"$@\"\n";
    std::filesystem::permissions(path("python"), std::filesystem::perms::owner_all);
  }

  /// From now on "compiler" or "nrt" does this to everybody, the canary included; "" puts it right.
  void order(const std::string& whom, const std::string& words) {
    std::ofstream(path("control/" + whom)) << words << "\n";
  }

  BackendSetup setup() const { return {options, check, paths}; }
  std::unique_ptr<Backend> backend() { return make_backend(spec, setup(), {}, roots); }
  std::unique_ptr<Device> device() { return make_checked_device(backend(), check, 7, paths); }

  jobs::NkiOptions options;
  jobs::NeuronSpec spec;
  jobs::CheckSpec check;
  DevicePaths paths = test_paths();
  NeuronRoots roots;

 private:
  TemporaryDirectory folder_;
};

inline std::uint32_t head_bytes(const std::string& neff) {
  std::uint32_t length = 0;
  std::memcpy(&length, neff.data() + 8, sizeof length);
  return length;
}

/// What stands in the head of a toy NEFF.
inline nlohmann::json about(const std::string& neff) {
  return nlohmann::json::parse(neff.substr(12, head_bytes(neff)));
}

/// The same NEFF with an order to the runtime in it.
inline Artifact with_order(Artifact artifact, const std::string& order) {
  auto head = about(artifact.bytes);
  const auto program = artifact.bytes.substr(12 + head_bytes(artifact.bytes));
  head["nrt"] = {order};
  const auto text = head.dump();
  const auto length = static_cast<std::uint32_t>(text.size());
  artifact.bytes = "FAKENEFF" + std::string(reinterpret_cast<const char*>(&length), sizeof length) + text + program;
  return artifact;
}

inline std::string with(const std::string& file, const std::string& directive) {
  return data_file(file) + "\n# fake-" + directive + "\n";
}

}  // namespace nkigrid::device
