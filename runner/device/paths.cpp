#include "runner/device/paths.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <vector>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;

fs::path own_executable() {
  std::array<char, 4096> buffer;
  const auto length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  if (length <= 0) throw_errno(errno, "find this program's own file");
  return {std::string(buffer.data(), static_cast<std::size_t>(length))};
}

/// The folder that holds our helper programs: beside the binary or above it in a build tree, under the prefix when
/// installed.
fs::path find_libexec() {
  if (const char* given = std::getenv("NKIGRID_LIBEXEC"); given != nullptr && *given != '\0') return given;
  auto folder = own_executable().parent_path();
  for (int up = 0; up < 5 && folder.has_relative_path(); ++up, folder = folder.parent_path()) {
    for (const auto& place : {folder / "libexec", folder / "libexec" / "nkigrid"}) {
      if (fs::exists(place / "nkigrid_run_server")) return place;
    }
  }
  throw Error(ErrorCode::config,
              fmt::format("the helper programs of '{}' are nowhere near it (looked for libexec/nkigrid_run_server); "
                          "build or install the whole project, or set NKIGRID_LIBEXEC",
                          own_executable().native()));
}

/// On this node: a reference cache on a shared file system would be slower than computing anew.
fs::path node_folder(const char* name) {
  const char* base = std::getenv("TMPDIR");
  return fs::path(base != nullptr && *base != '\0' ? base : "/tmp") / fmt::format("nkigrid-{}-{}", name, ::geteuid());
}

}  // namespace

DevicePaths default_device_paths() {
  const auto libexec = find_libexec();
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
