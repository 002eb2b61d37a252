#include "jobs/endpoints.hpp"

#include <algorithm>

namespace nkigrid::jobs {
namespace {

bool is_limited(const Grid& grid, const ModelSpec& model) {
  return model.concurrency > 0 &&
         std::any_of(grid.cells.begin(), grid.cells.end(), [&](const auto& cell) { return cell.model == model.name; });
}

bool same_endpoint(const ModelSpec& a, const ModelSpec& b) {
  if (a.api.index() != b.api.index()) return false;
  const auto* of_a = remote_of(a.api);
  const auto* of_b = remote_of(b.api);
  return of_a == nullptr || (of_a->endpoint == of_b->endpoint && of_a->key == of_b->key);
}

}  // namespace

std::vector<Endpoint> limited_endpoints(const Grid& grid) {
  std::vector<Endpoint> endpoints;
  for (std::uint32_t m = 0; m < grid.models.size(); ++m) {
    const auto& model = grid.models[m];
    if (!is_limited(grid, model)) continue;
    auto at = std::find_if(endpoints.begin(), endpoints.end(),
                           [&](const auto& e) { return same_endpoint(grid.models[e.models.front()], model); });
    if (at == endpoints.end()) at = endpoints.insert(at, Endpoint{});
    at->models.push_back(m);
    at->concurrency = std::max(at->concurrency, model.concurrency);
  }
  return endpoints;
}

std::uint32_t EndpointPart::of(std::uint32_t limit) const noexcept {
  return std::max(1U, limit / at_once + (shard < limit % at_once ? 1 : 0));
}

std::uint32_t most_elements_at_once(const Grid& grid) {
  std::uint32_t most = 0;
  for (const auto& model : grid.models) {
    if (is_limited(grid, model)) most = most == 0 ? model.concurrency : std::min(most, model.concurrency);
  }
  return most;
}

std::uint32_t throttle_within_limits(const Grid& grid, std::uint32_t elements, std::uint32_t throttle) {
  const auto most = most_elements_at_once(grid);
  const auto at_once = throttle == 0 ? elements : std::min(elements, throttle);
  return most > 0 && at_once > most ? most : throttle;
}

}  // namespace nkigrid::jobs
