#include "runner/device/paths.hpp"

#include <unistd.h>

#include <cstdlib>

#include <fmt/core.h>

#include "jobs/base/libexec.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;

/// On this node: a reference cache on a shared file system would be slower than computing anew.
fs::path node_folder(const char* name) {
  const char* base = std::getenv("TMPDIR");
  return fs::path(base != nullptr && *base != '\0' ? base : "/tmp") / fmt::format("nkigrid-{}-{}", name, ::geteuid());
}

}  // namespace

DevicePaths default_device_paths() {
  const auto libexec = libexec_folder();
  DevicePaths paths;
  paths.libexec = libexec;
  // PREFIX/libexec/nkigrid and PREFIX/lib/nkigrid/nkisim, or build/libexec and build/nkisim.
  const auto installed = libexec.parent_path().parent_path() / "lib" / "nkigrid" / "nkisim";
  paths.nkisim = fs::exists(installed) ? installed : libexec.parent_path() / "nkisim";
  paths.entry_rules = paths.nkisim / "neuronxcc" / "nki" / "_entry.py";
  paths.cache = node_folder("reference");
  paths.posed = node_folder("posed");
  return paths;
}

}  // namespace nkigrid::device
