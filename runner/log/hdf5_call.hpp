#pragma once

#include <fmt/core.h>
#include <hdf5.h>
#include <stdlib.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "jobs/base/error.hpp"
#include "runner/log/hdf5.hpp"

/// What every wrapper of HDF5 shares: the lock, the silence, the check. For hdf5*.cpp alone; it brings hdf5.h
/// with it.
namespace nkigrid::log::h5 {

static_assert(sizeof(hid_t) == sizeof(Hid));

/// Held around every use of HDF5: locks the library and silences its own error printing.
class Call {
 public:
  Call() : lock_(mutex()) {
    // No clean-up at exit: every file is closed by its handle, and after a damaged file HDF5 1.10.8 can end
    // in complaints of an "infinite loop closing library". Must be said before any other call.
    static const herr_t once = (forget_locking_wish(), H5dont_atexit(), H5PLset_loading_state(0));
    static_cast<void>(once);
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Call() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Call(const Call&) = delete;

 private:
  /// In the environment this word outranks H5Pset_file_locking(), and makes files unreadable where a file system has no
  /// locks. Before HDF5 starts, once; the environment is left alone unless the word is there.
  static void forget_locking_wish() {
    const char* wish = std::getenv("HDF5_USE_FILE_LOCKING");
    if (wish != nullptr && std::string_view(wish) != "FALSE") ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  }
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex one;
    return one;
  }
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

inline herr_t keep_first(unsigned, const H5E_error2_t* error, void* text) {
  auto& first = *static_cast<std::string*>(text);
  if (first.empty() && error->desc != nullptr) first = error->desc;
  return 0;
}

/// The most specific message of the pending failure. The stack that HDF5 hands over is ours and must be
/// closed: left open it costs about 1.9 kB each time (HDF5 1.10.8).
inline std::string take_message() {
  std::string text;
  const hid_t stack = H5Eget_current_stack();
  if (stack < 0) return "no reason given";
  H5Ewalk2(stack, H5E_WALK_UPWARD, keep_first, &text);
  H5Eclose_stack(stack);
  return text.empty() ? "no reason given" : text;
}

template <class T>
T check(T result, ErrorCode code, std::string_view doing, std::string_view object) {
  if (result < 0) throw Error(code, fmt::format("cannot {} '{}': {}", doing, object, take_message()));
  return result;
}
template <class T>
T made(T result, std::string_view doing, std::string_view object) {
  return check(result, ErrorCode::internal, doing, object);
}
template <class T>
T had(T result, std::string_view doing, std::string_view object) {
  return check(result, ErrorCode::corrupt, doing, object);
}

inline int close_list(Hid id) noexcept { return H5Pclose(id); }
inline int close_space(Hid id) noexcept { return H5Sclose(id); }
inline int close_type(Hid id) noexcept { return H5Tclose(id); }
inline int close_attribute(Hid id) noexcept { return H5Aclose(id); }
using List = Handle<close_list>;
using Space = Handle<close_space>;
using Type = Handle<close_type>;
using Attribute = Handle<close_attribute>;

inline hid_t native(Number type) {
  const std::array<hid_t, 6> types = {H5T_NATIVE_INT8,   H5T_NATIVE_UINT8,  H5T_NATIVE_INT32,
                                      H5T_NATIVE_UINT32, H5T_NATIVE_UINT64, H5T_NATIVE_DOUBLE};
  return types[static_cast<std::size_t>(type)];
}

inline List file_access() {
  List list(made(H5Pcreate(H5P_FILE_ACCESS), "make access list", ""));
  // SEMI: closing a file with a handle left open is an error instead of a leak.
  made(H5Pset_fclose_degree(list.get(), H5F_CLOSE_SEMI), "set close degree", "");
  // HDF5's own locks fail on some network file systems, and guard nothing here: a finished file is immutable,
  // a new one ours alone.
  made(H5Pset_file_locking(list.get(), false, true), "set locking", "");
  return list;
}

}  // namespace nkigrid::log::h5
