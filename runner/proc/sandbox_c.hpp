#pragma once

#include <cstddef>
#include <cstdint>

/// The sandbox for Python, called through ctypes from libnkigrid_sandbox.so. Texts go into `error`, cut to
/// `error_bytes`.
extern "C" {

/// In the server. @param readable folders, `count` of them; @param strict 1: every part or nothing
/// @returns a handle that lives as long as the process, or null
void* nkigrid_sandbox_prepare(const char* const* readable, int count, int strict, char* error, std::size_t error_bytes);

/// In the child. @param keep descriptors above 2 that stay open. @returns 0, or -1
int nkigrid_sandbox_enter(const void* handle, const int* keep, int count, std::uint64_t address_space_bytes,
                          std::uint64_t cpu_seconds, char* error, std::size_t error_bytes);

/// In a child that is seen at a denied act: ends it the way the filter would, with SIGSYS.
void nkigrid_sandbox_deny();
}
