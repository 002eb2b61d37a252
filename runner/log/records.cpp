#include "runner/log/records.hpp"

namespace nkigrid::log {

const AttemptId& attempt_of(const Record& record) noexcept {
  return std::visit([](const auto& r) -> const AttemptId& { return r.id; }, record);
}

}  // namespace nkigrid::log
