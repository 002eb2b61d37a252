#pragma once

#include <cstdint>
#include <vector>

#include "jobs/grid/grid.hpp"

/// How many requests an endpoint gets at once, and how the elements of a run share that number
/// (docs/decisions/concurrency.md).
namespace nkigrid::jobs {

/// Models that send to one server with one key. What they have in flight together is bounded by the largest of their
/// limits, what each of them has by its own.
struct Endpoint {
  std::vector<std::uint32_t> models;  ///< indices into grid.models; only those that a cell uses and that have a limit
  std::uint32_t concurrency = 0;      ///< requests in flight, at least 1
};

/// The endpoints that have a limit, in the order of their first model.
std::vector<Endpoint> limited_endpoints(const Grid& grid);

/// An element's part of every limit, so that elements which work at once keep to it without speaking to one another.
struct EndpointPart {
  std::uint32_t shard = 0;
  std::uint32_t at_once = 1;  ///< elements of the run that may work at once, this one among them

  /// The requests that this element may have in flight. Any `at_once` shards together get at most `limit`; none gets 0,
  /// so that at_once <= limit is the caller's to keep (most_elements_at_once()).
  std::uint32_t of(std::uint32_t limit) const noexcept;
};

/// The smallest limit of a model that a cell uses: more elements than that could not all have a request in flight. 0:
/// no limit.
std::uint32_t most_elements_at_once(const Grid& grid);

/// `throttle` (0: none), lowered where `elements` at once would be more than the endpoints' limits bear.
std::uint32_t throttle_within_limits(const Grid& grid, std::uint32_t elements, std::uint32_t throttle);

}  // namespace nkigrid::jobs
