#include "jobs/base/plugin.hpp"

#include <dlfcn.h>

#include <filesystem>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid {
namespace {

namespace fs = std::filesystem;

/// A path, or the bare name where no such file stands: the loader then looks along its own.
std::string place_of(const std::string& file) {
  std::error_code ignored;
  const auto beside = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto& place : {beside / file, beside / ".." / "lib" / "nkigrid" / file}) {
    if (fs::exists(place, ignored)) return place.lexically_normal().native();
  }
  return file;
}

}  // namespace

void* load_plugin(const std::string& file, const char* entry) {
  // Global: libraries with plugins of their own (Open MPI) let those look for symbols in the process.
  void* library = ::dlopen(place_of(file).c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    throw Error(ErrorCode::external,
                fmt::format("cannot load '{}' ({}); install what it needs, or build nkigrid anew", file, ::dlerror()));
  void* function = ::dlsym(library, entry);
  if (function == nullptr)
    throw Error(ErrorCode::external,
                fmt::format("'{}' is of another version of nkigrid (it has no {}); install both anew", file, entry));
  return function;
}

}  // namespace nkigrid
