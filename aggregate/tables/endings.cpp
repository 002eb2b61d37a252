#include "aggregate/tables/endings.hpp"

#include <map>
#include <tuple>

#include "aggregate/evidence/counted_episodes.hpp"
#include "aggregate/evidence/factors.hpp"

namespace nkigrid::aggregate {
namespace {

std::string ending_word(const log::End& end, Rule rule) {
  if (passed(end, rule)) return "pass";
  return end.code == Code::none ? std::string(to_string(end.outcome)) : std::string(group_of(end.code));
}

using EndingKey = std::tuple<std::string, std::uint32_t, std::uint32_t>;  ///< plain cell, task, replicate

}  // namespace

std::vector<EndingPair> make_ending_pairs(const Evidence& evidence) {
  const auto rule = evidence.options.rule;
  std::map<EndingKey, std::string> before;
  visit_counted(evidence, [&](const CountedEpisode& episode) {
    const auto& id = evidence.cell(evidence.scores[episode.row]).id;
    if (run_of(id).empty())
      before[{id, episode.planned.task, episode.planned.replicate}] = ending_word(episode.end, rule);
  });
  std::vector<EndingPair> pairs;
  visit_counted(evidence, [&](const CountedEpisode& episode) {
    const auto& id = evidence.cell(evidence.scores[episode.row]).id;
    if (run_of(id).empty()) return;
    const auto found = before.find({std::string(plain_cell(id)), episode.planned.task, episode.planned.replicate});
    if (found == before.end()) return;
    pairs.push_back({.row = episode.row,
                     .task = episode.planned.task,
                     .stratum = episode.stratum,
                     .before = found->second,
                     .after = ending_word(episode.end, rule)});
  });
  return pairs;
}

std::string why_no_ending_pairs(const Evidence& evidence) {
  return evidence.once(make_ending_pairs).empty()
             ? "no cell is kept apart as cell@run; name two runs, such as those of `reverify`"
             : "every episode ended as it did in the run named first";
}

}  // namespace nkigrid::aggregate
