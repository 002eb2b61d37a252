#include "runner/gated_model.hpp"

namespace nkigrid::runner {

model::ChatReply GatedModel::complete(const model::ChatRequest& request, std::stop_token stop) {
  if (!rules_.may_begin()) throw model::ChatError(model::ChatFailure::interrupted, "no turn is begun any more");
  const auto asked = clock_.monotonic();
  try {
    auto reply = inner_.complete(request, stop);
    rules_.waited(Seconds(reply.failing_s));
    return reply;
  } catch (const model::ChatError& error) {
    rules_.waited(clock_.monotonic() - asked);
    if (!rules_.is_outage(error)) throw;
    throw model::ChatError(model::ChatFailure::interrupted, error.what());
  }
}

}  // namespace nkigrid::runner
