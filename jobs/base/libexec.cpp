#include "jobs/base/libexec.hpp"

#include <cstdlib>
#include <system_error>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid {
namespace fs = std::filesystem;

fs::path libexec_folder() {
  constexpr const char* kAHelper = "nkigrid_confine";
  if (const char* given = std::getenv("NKIGRID_LIBEXEC"); given != nullptr && *given != '\0') return given;
  std::error_code error;
  const auto own = fs::read_symlink("/proc/self/exe", error);
  if (error) throw_errno(error.value(), "find this program's own file");
  auto folder = own.parent_path();
  for (int up = 0; up < 5 && folder.has_relative_path(); ++up, folder = folder.parent_path()) {
    for (const auto& place : {folder / "libexec", folder / "libexec" / "nkigrid"}) {
      if (fs::exists(place / kAHelper, error)) return place;
    }
  }
  throw Error(
      ErrorCode::config,
      fmt::format("the helper programs of '{}' are nowhere near it (looked for libexec/{}); build or install the "
                  "whole project, or set NKIGRID_LIBEXEC",
                  own.native(), kAHelper));
}

}  // namespace nkigrid
