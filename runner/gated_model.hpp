#pragma once

#include <functional>
#include <utility>

#include "jobs/base/clock.hpp"
#include "runner/model/model.hpp"

namespace nkigrid::runner {

/// A model that is asked only while a turn may begin: no request is paid for whose turn cannot end in the time left. A
/// request that an endpoint's outage failed is none: its attempt is left as a stop leaves it, and costs no try. What an
/// endpoint cost is told: before a reply, and all that brought none.
class GatedModel final : public model::ChatModel {
 public:
  struct Rules {
    std::function<bool()> may_begin;
    std::function<bool(const model::ChatError&)> is_outage;
    std::function<void(Seconds)> waited;
  };
  GatedModel(model::ChatModel& inner, const Clock& clock, Rules rules)
      : inner_(inner), clock_(clock), rules_(std::move(rules)) {}
  model::ChatReply complete(const model::ChatRequest& request, std::stop_token stop) override;

 private:
  model::ChatModel& inner_;
  const Clock& clock_;
  Rules rules_;
};

}  // namespace nkigrid::runner
