#include "runner/worker.hpp"

#include <utility>

namespace nkigrid::runner {

Worker::Worker(mpi::Comm& comm, LanePool& lanes, RankPermits& permits, std::string node, Hooks hooks)
    : comm_(comm), lanes_(lanes), permits_(permits), node_(std::move(node)), hooks_(std::move(hooks)) {}

bool Worker::pump(Seconds now) {
  auto events = lanes_.take_events();
  for (const auto& trouble : events.troubles) send(Tag::trouble, encode(trouble), "report trouble");
  if (!events.spent.empty()) send(Tag::spent, encode(events.spent), "report costs");
  if (!events.done.empty()) send(Tag::done, encode(events.done), "report results");
  const auto permits = permits_.take_outgoing();
  for (const auto& model : permits.wanted) send(Tag::permit_wanted, model, "ask for a permit");
  for (const auto& model : permits.returned) send(Tag::permit_returned, model, "return a permit");
  for (const auto& grant : permits.granted)
    comm_.send(grant.rank, static_cast<int>(Tag::permit_granted), grant.model, "pass a permit on");
  requests_.ended(static_cast<std::uint32_t>(events.done.size()), now);
  std::optional<Want> want;
  if (started_ && !finishing_) want = requests_.ask(lanes_.lanes(), lanes_.idle_lanes(), lanes_.queued(), node_, now);
  if (want) send(Tag::want, encode(*want), "ask for episodes");
  return want || !events.spent.empty() || !events.done.empty() || !events.troubles.empty() || !permits.wanted.empty() ||
         !permits.returned.empty() || !permits.granted.empty();
}

void Worker::handle(const mpi::Incoming& message) {
  switch (static_cast<Tag>(message.tag)) {
    case Tag::work:
      give(decode_work(message.bytes));
      break;
    case Tag::permit_granted:
      permits_.grant(message.bytes);
      break;
    case Tag::start:
      hooks_.start(decode_start(message.bytes));
      started_ = true;
      break;
    case Tag::end_moved:
      hooks_.move_end(decode_time_left(message.bytes));
      break;
    case Tag::drain:
      decode_drain(message.bytes).at_once ? lanes_.drain() : lanes_.close();
      break;
    case Tag::close_cells:
      lanes_.close_cells(decode_cells(message.bytes).cells);
      break;
    case Tag::finish:
      finishing_ = true;
      break;
    case Tag::result:
      result_ = decode_result(message.bytes);
      break;
    default:
      break;
  }
}

void Worker::send(Tag tag, const std::string& bytes, std::string_view hint) {
  comm_.send(0, static_cast<int>(tag), bytes, hint);
}

void Worker::give(std::vector<Assignment> work) {
  requests_.received(work.size());
  lanes_.give(std::move(work));
}

}  // namespace nkigrid::runner
