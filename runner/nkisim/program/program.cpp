#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

std::size_t constant_bytes(const Program& program) noexcept {
  std::size_t total = 0;
  for (const Buffer& buffer : program.buffers) total += buffer.data.size();
  return total;
}

}  // namespace nkigrid::nkisim
