#include "exports/story.hpp"

#include <algorithm>
#include <unordered_map>

#include "runner/log/plan_index.hpp"
#include "runner/log/reader.hpp"

namespace nkigrid::exports {
namespace {

constexpr std::size_t kAtOnce = 2048;  ///< episodes whose texts are in memory: each batch walks the log once

/// The counted ends of some episodes, with their texts, by place.
std::unordered_map<std::uint32_t, log::End> read_ends(const jobs::Run& run, const log::Ledger& ledger,
                                                      std::span<const std::uint32_t> places) {
  std::unordered_map<std::uint32_t, log::End> ends;
  for (const auto place : places) {
    if (ledger.states[place].is_scored()) ends.emplace(place, log::End{});
  }
  const log::PlanIndex index(run.plan);
  log::LogVisitor visitor;
  visitor.end = [&](const log::End& end) {
    const auto found = ends.find(index.find(end.id));
    if (found != ends.end() && ledger.states[found->first].counted_attempt == end.id.attempt) found->second = end;
  };
  log::read_log(log::log_of(run), log::Texts::load, visitor);
  return ends;
}

/// Without the turns of attempts after the one that counts: they led to no verdict.
void keep_counted(Story& story) {
  if (!story.end) return;
  const auto counted = story.end->id.attempt;
  const auto late = std::find_if(story.turns.begin(), story.turns.end(),
                                 [&](const auto& turn) { return turn.reply.id.attempt > counted; });
  story.turns.erase(late, story.turns.end());
}

}  // namespace

bool Story::is_whole() const noexcept {
  return end && turns.size() == end->turns &&
         std::all_of(turns.begin(), turns.end(), [](const auto& logged) { return logged.turn.has_value(); });
}

void visit_stories(const jobs::Run& run, const log::Ledger& ledger, std::span<const std::uint32_t> places,
                   const std::function<void(const Story&)>& visit) {
  while (!places.empty()) {
    const auto batch = places.first(std::min(places.size(), kAtOnce));
    places = places.subspan(batch.size());
    std::vector<log::HistoryKey> wanted;
    for (const auto place : batch) {
      const auto& planned = run.plan.episodes[place];
      wanted.push_back({run.plan.id_of(planned), run.plan.key(planned.cell, planned.task)});
    }
    auto ends = read_ends(run, ledger, batch);
    auto histories = log::read_histories(log::log_of(run), wanted);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      Story story{batch[i], std::nullopt, std::move(histories[i])};
      if (const auto end = ends.find(batch[i]); end != ends.end()) story.end = std::move(end->second);
      keep_counted(story);
      visit(story);
    }
  }
}

}  // namespace nkigrid::exports
