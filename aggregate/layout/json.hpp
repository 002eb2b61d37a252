#pragma once

#include <nlohmann/json_fwd.hpp>

#include "aggregate/layout/sheet.hpp"

namespace nkigrid::aggregate {

/// A sheet of data as an array of objects: its heads are the keys, and an empty field is null.
nlohmann::ordered_json sheet_as_json(const Sheet& sheet);

}  // namespace nkigrid::aggregate
