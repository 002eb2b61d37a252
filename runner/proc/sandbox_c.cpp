#include "runner/proc/sandbox_c.hpp"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <span>
#include <vector>

#include "runner/proc/namespaces.hpp"
#include "runner/proc/sandbox.hpp"

namespace {

using nkigrid::proc::Sandbox;

void tell(const std::exception& error, char* into, std::size_t size) {
  if (size == 0) return;
  const auto length = std::min(::strlen(error.what()), size - 1);
  ::memcpy(into, error.what(), length);
  into[length] = '\0';
}

}  // namespace

void* nkigrid_sandbox_prepare(const char* const* readable, int count, int strict, char* error,
                              std::size_t error_bytes) {
  try {
    const std::vector<std::filesystem::path> folders(readable, readable + count);
    nkigrid::proc::leave_namespaces();
    return new Sandbox(nkigrid::proc::SandboxProfile::python,
                       strict != 0 ? nkigrid::proc::SandboxLevel::strict : nkigrid::proc::SandboxLevel::relaxed,
                       folders);
  } catch (const std::exception& why) {
    tell(why, error, error_bytes);
    return nullptr;
  }
}

int nkigrid_sandbox_enter(const void* handle, const int* keep, int count, std::uint64_t address_space_bytes,
                          std::uint64_t cpu_seconds, char* error, std::size_t error_bytes) {
  try {
    static_cast<const Sandbox*>(handle)->enter({address_space_bytes, cpu_seconds},
                                               std::span(keep, static_cast<std::size_t>(count)));
    return 0;
  } catch (const std::exception& why) {
    tell(why, error, error_bytes);
    return -1;
  }
}

void nkigrid_sandbox_deny() {
  ::signal(SIGSYS, SIG_DFL);
  ::raise(SIGSYS);
  ::_exit(1);
}
