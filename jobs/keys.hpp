#pragma once

#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/grid/key_field.hpp"

namespace nkigrid::jobs {

/// The fields of a cell, in the order in which they are hashed (docs/formats/run_directory.md). Model, mode
/// and prompt enter by what they are, not by what the grid calls them; seed, replicates, endpoint, key, price
/// and concurrency do not enter. Of a device: what decides results, not where its parts lie (python, libnrt, cores,
/// argv).
std::vector<KeyField> cell_key_fields(const Grid& grid, const CellSpec& cell);

/// The fields of a task: its hash (file and index entry) and, for a synthetic model, the known kernel that it
/// starts from.
/// @param kernel_hash SHA-256 (hex) of the known kernel; "" for other models
std::vector<KeyField> task_key_fields(const Task& task, const std::string& kernel_hash);

/// First 16 hex digits of SHA-256 over the values as length-prefixed fields.
std::string key_of(const std::vector<KeyField>& cell, const std::vector<KeyField>& task);

}  // namespace nkigrid::jobs
