#include "runner/nkisim/specials/special.hpp"

namespace nkigrid::nkisim {

std::vector<std::int64_t> operand_shape(const std::vector<std::int64_t>& shape, int values) {
  if (values == kWholeShape) return shape;
  std::vector<std::int64_t> result(shape.size(), 1);
  result.front() = shape.front();
  result.back() = values;
  return result;
}

const SpecialOperation* operation_of(Special kind) noexcept {
  switch (kind) {
#define SPECIAL(special, instr, name, ...) \
  case Special::name:                      \
    return &specials::name;
#define RESERVED_SPECIAL(special, name) case Special::name:
#include "runner/nkisim/numbers/numbers.def"
    return nullptr;
  }
  return nullptr;
}

}  // namespace nkigrid::nkisim
