#pragma once

#include <span>

#include "jobs/plan.hpp"

namespace nkigrid::jobs {

/// Gives every episode its shard: extent by extent, in an order keyed by the episode's id, one shard after
/// the other.
void deal_shards(Plan& plan, std::span<const PlanExtent> grown_from);

}  // namespace nkigrid::jobs
