#pragma once

#include <filesystem>

#include "runner/log/seal_key.hpp"

namespace nkigrid::log {

/// Holds the columns that repeat others (`cell`, `task`, `replicate`, `group`, a turn's `episode`, `key`, `attempt`)
/// against these. Our readers never look at them; a stranger's do.
/// @throws Error{corrupt} naming file, row and columns
void prove_derived_columns(const std::filesystem::path& segment, const SealKey& key = {});

}  // namespace nkigrid::log
