#include "jobs/base/error.hpp"
#include "slurm/array_text.hpp"
#include "slurm/request_parts.hpp"
#include "tests/fuzz/targets.hpp"

namespace nkigrid::fuzz {
namespace {

template <class Read>
void refusing(Read read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) __builtin_trap();
  }
}

}  // namespace

void slurm_text(std::string_view bytes) {
  refusing([&] { slurm::parse_elements(bytes); });
  refusing([&] { slurm::highest_element(bytes); });
  refusing([&] { slurm::count_elements(bytes); });
  refusing([&] { slurm::throttle_of(bytes); });
  refusing([&] { slurm::node_names(bytes); });
}

}  // namespace nkigrid::fuzz
