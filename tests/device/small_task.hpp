#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "jobs/base/files.hpp"
#include "jobs/base/hash.hpp"
#include "runner/device/make_device.hpp"

namespace nkigrid::device {

inline std::string data_file(const std::string& name) {
  return read_file(std::filesystem::path(NKIGRID_TEST_DATA) / "device" / name);
}

/// out = scale * (2 x + weight) over [128, 64]; `weight` is a parameter of the module.
inline jobs::Task small_task(const std::string& scale = "1.0") {
  jobs::Task task;
  task.id = "T1/two_x_plus_weight";
  task.level = "T1";
  task.source =
      "import torch\n"
      "import torch.nn as nn\n\n\n"
      "class Model(nn.Module):\n"
      "    def __init__(self):\n"
      "        super().__init__()\n"
      "        self.weight = nn.Parameter(torch.randn(128, 64))\n\n"
      "    def forward(self, x):\n"
      "        return " +
      scale +
      " * (2.0 * x + self.weight)\n\n\n"
      "def get_inputs():\n    return [torch.randn(128, 64)]\n\n\n"
      "def get_init_inputs():\n    return []\n";
  task.inputs = {{"x", {128, 64}, "float32", "input"}, {"weight", {128, 64}, "float32", "parameter"}};
  task.outputs = {{"out", {128, 64}, "float32", "output"}};
  task.index_entry =
      R"({"inputs":[{"name":"x","shape":[128,64],"dtype":"float32","role":"input","domain":"real","bound":0},)"
      R"({"name":"weight","shape":[128,64],"dtype":"float32","role":"parameter","domain":"real","bound":0}],)"
      R"("outputs":[{"shape":[128,64],"dtype":"float32"}]})";
  task.hash = sha256_hex(task.source);
  return task;
}

/// Paths of the build tree, with a cache that the tests of this room share: torch takes seconds to import. A user who
/// may not write there (tests/as_user.py) has one of its own.
inline DevicePaths test_paths() {
  const auto build = std::filesystem::path(NKIGRID_BUILD_DIR);
  const char* cache = std::getenv("NKIGRID_TEST_CACHE");
  return {build / "libexec", build / "nkisim", build / "nkisim" / "neuronxcc" / "nki" / "_entry.py",
          cache != nullptr ? std::filesystem::path(cache) : build / "tests" / "reference-cache"};
}

/// A device with servers of its own.
struct TestDevice {
  jobs::CheckSpec check;
  std::shared_ptr<BackendServers> servers;
  std::unique_ptr<Device> device;

  explicit TestDevice(jobs::CheckSpec spec = {}, const DevicePaths& paths = test_paths()) : check(spec) {
    servers = start_servers(jobs::SimSpec{}, check, paths, 2);
    device = make_device({}, check, 7, servers, paths);
  }
  CompileResult compile(const std::string& source, const jobs::Task& task = small_task()) {
    return device->compile(task, source, std::nullopt);
  }
};

}  // namespace nkigrid::device
