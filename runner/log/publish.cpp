#include "runner/log/publish.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::log {

bool publish(const std::filesystem::path& path, std::initializer_list<std::string_view> bytes) {
  const auto folder = path.parent_path();
  std::string hidden = (folder / ("." + path.filename().native() + ".XXXXXX")).native();
  Fd fd(::mkostemp(hidden.data(), O_CLOEXEC));
  if (!fd) throw_errno(errno, "write", path.native());
  bool linked = false;
  try {
    for (const auto piece : bytes) write_all(fd.get(), piece, path);
    if (::fchmod(fd.get(), new_file_mode(folder)) != 0 || ::fsync(fd.get()) != 0)
      throw_errno(errno, "write", path.native());
    fd.close();
    linked = ::link(hidden.c_str(), path.c_str()) == 0;
    if (!linked && errno != EEXIST) throw_errno(errno, "write", path.native());
  } catch (...) {
    ::unlink(hidden.c_str());
    throw;
  }
  ::unlink(hidden.c_str());
  if (linked) fsync_directory(folder);
  return linked;
}

}  // namespace nkigrid::log
