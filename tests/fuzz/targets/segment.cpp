#include <fmt/format.h>
#include <sys/mman.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/segment_reader.hpp"
#include "tests/fuzz/targets.hpp"

namespace nkigrid::fuzz {

void segment(std::string_view bytes) {
  const Fd fd(::memfd_create("segment", MFD_CLOEXEC));
  write_all(fd.get(), bytes, "segment");
  const auto name = fmt::format("/proc/self/fd/{}", fd.get());
  const auto ignore = [](std::uint64_t, log::Record&&) {};
  for (const auto& key : {log::SealKey(), log::SealKey("k")}) {
    try {
      const auto report = log::read_segment(name, {}, ignore, key);
      if (key) __builtin_trap();  // nobody sealed it
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt) __builtin_trap();
    }
    try {
      log::salvage_segment(name, ignore, key);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt) __builtin_trap();
    }
  }
}

}  // namespace nkigrid::fuzz
