#pragma once

#include <filesystem>
#include <string>

#include "jobs/base/error.hpp"

/// Making a benchmark of one's own.
namespace nkigrid::cli {

struct NewTask {
  std::string id;      ///< L1/my_task
  std::string folder;  ///< the benchmark's
};

/// `bench new`: writes tasks/ID.py and kernels/ID.py, which pass as they are, to be changed. @throws Error{usage} when
/// either is there
ExitCode new_task(const NewTask& wanted);

struct AddedTask {
  std::string file;    ///< of the task
  std::string id;      ///< empty: from the file's place, .../L1/name.py, else L1/name
  std::string kernel;  ///< a known kernel, or ""
  std::string folder;  ///< the benchmark's; made when absent
};

/// `bench add`: poses a task, proves it, and only then writes it, its kernel and its index entry.
/// @returns 1 when the proof found a fault: nothing is written then. @throws Error{config} when it cannot be posed
ExitCode add_task(const AddedTask& wanted);

}  // namespace nkigrid::cli
