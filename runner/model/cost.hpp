#pragma once

#include "jobs/grid/grid.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::model {

/// What a reply costs [USD]. What a cache held or took is part of the input and has prices of its own where there are.
double usd(const jobs::Price& price, const Usage& usage);

}  // namespace nkigrid::model
