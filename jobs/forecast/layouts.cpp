#include "jobs/forecast/layouts.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

namespace nkigrid::jobs {
namespace {

void add(std::vector<Layout>& layouts, const Layout& layout) {
  if (std::find(layouts.begin(), layouts.end(), layout) == layouts.end()) layouts.push_back(layout);
}

std::vector<std::uint32_t> or_own(const std::vector<std::uint32_t>& values, std::uint32_t own) {
  return values.empty() ? std::vector<std::uint32_t>{own} : values;
}

void add_combinations(std::vector<Layout>& layouts, const Layout& own, const LayoutChoices& choices) {
  for (const auto shards : or_own(choices.shards, own.shards)) {
    for (const auto throttle : or_own(choices.throttles, own.throttle)) {
      for (const auto ranks : or_own(choices.ranks_per_node, own.ranks_per_node)) {
        for (const auto lanes : or_own(choices.lanes, own.lanes))
          add(layouts, {shards, throttle, own.nodes, ranks, lanes});
      }
    }
  }
}

void add_neighbours(std::vector<Layout>& layouts, const Layout& own) {
  const auto with = [&](auto&& change) {
    auto layout = own;
    change(layout);
    add(layouts, layout);
  };
  if (own.shards % 4 == 0) with([](Layout& l) { l.shards /= 4; });
  if (own.shards % 2 == 0) {
    with([](Layout& l) { l.shards /= 2; });
    with([](Layout& l) { l.shards /= 2, l.nodes *= 2, l.throttle = (l.throttle + 1) / 2; });
  }
  with([](Layout& l) { l.shards *= 2; });
  with([](Layout& l) { l.shards *= 4; });
  if (own.lanes % 2 == 0) with([](Layout& l) { l.lanes /= 2; });
  with([](Layout& l) { l.lanes *= 2; });
}

}  // namespace

std::vector<Layout> layouts_to_try(const Layout& own, const LayoutChoices& choices) {
  std::vector<Layout> layouts = {own};
  if (choices.given())
    add_combinations(layouts, own, choices);
  else
    add_neighbours(layouts, own);
  return layouts;
}

Recommendation recommend(const std::vector<LayoutResult>& results, double limit, double slack) {
  const auto fits = [&](const LayoutResult& r) { return r.run.longest_element <= limit; };
  double fastest = std::numeric_limits<double>::infinity();
  for (const auto& r : results) {
    if (fits(r)) fastest = std::min(fastest, r.run.makespan);
  }
  Recommendation best;
  if (fastest == std::numeric_limits<double>::infinity()) {
    for (std::size_t i = 1; i < results.size(); ++i) {
      if (results[i].run.longest_element < results[best.index].run.longest_element) best.index = i;
    }
    best.reason =
        "no layout ends inside the time limit; this one's elements come closest, and `resume` continues what they "
        "leave";
    return best;
  }
  bool found = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& run = results[i].run;
    if (!fits(results[i]) || run.makespan > (1 + slack) * fastest) continue;
    if (found && run.node_seconds >= results[best.index].run.node_seconds) continue;
    best.index = i;
    found = true;
  }
  const auto& run = results[best.index].run;
  best.reason = fmt::format("fewest node hours of those within {:.0f} % of the shortest makespan", 100 * slack);
  if (!run.limited_by.empty())
    best.reason += fmt::format("; the endpoint of {} is the limit, more lanes would wait for it", run.limited_by);
  return best;
}

}  // namespace nkigrid::jobs
