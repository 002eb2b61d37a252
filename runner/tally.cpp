#include "runner/tally.hpp"

#include <utility>
#include <variant>

#include "runner/log/ledger.hpp"

namespace nkigrid::runner {

void Tally::see(const log::Record& record) {
  const auto now = clock_.monotonic();
  if (const auto* reply = std::get_if<log::Reply>(&record)) {
    if (std::exchange(takes_over_, false)) return;
    cost_.tokens += std::uint64_t{reply->tokens_in} + reply->tokens_out;
    cost_.usd += reply->cost_usd;
    return;
  }
  if (std::holds_alternative<log::Turn>(record)) turns_.saw_turn(cell_, now - last_);
  if (const auto* end = std::get_if<log::End>(&record)) {
    done_.ended = true;
    done_.outcome = end->outcome;
    done_.on_device = log::was_on_device(*end);
    done_.reason = end->reason;
    if (end->outcome != Outcome::api_error) turns_.saw_final_check(cell_, now - last_);  // else there was none
  }
  last_ = now;
}

}  // namespace nkigrid::runner
