#include "runner/nkisim/engine/output_poison.hpp"

#include <array>

#include "runner/nkisim/program/ranges.hpp"
#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

class Reads {
 public:
  explicit Reads(const Program& program) : program_(program), read_(program.buffers.size(), false) {
    for_each_node(program.body,
                  [&](const Node& node) { std::visit([&](const auto& what) { look(what); }, node.what); });
  }
  std::vector<bool> take() { return std::move(read_); }

 private:
  void look(const Loop&) {}
  void look(const If&) {}
  void look(const Alloc&) {}
  template <class Op>
  void look(const Op& op) {
    for_each_access(op, [&](const Access& access, bool written) {
      if (!written || accumulates(op)) {
        read(access);
      } else if (access.dynamic) {
        read(*access.dynamic);
      }
    });
  }
  void read(const Access& access) {
    read_[root_of(program_, access.buffer)] = true;
    if (access.dynamic) read(*access.dynamic);
  }

  const Program& program_;
  std::vector<bool> read_;
};

}  // namespace

std::vector<bool> buffers_read(const Program& program) { return Reads(program).take(); }

void poison_unwritten(const Tile& tile, Dtype dtype, std::uint64_t bytes, std::uint32_t granule,
                      const Poison& poison) noexcept {
  std::array<std::byte, 4> element{};
  const std::uint64_t item = size_of(dtype);
  fill_poison(dtype, std::span(element.data(), item), poison);
  const std::uint64_t granules = bytes / granule;
  for (std::uint64_t g = 0; g < granules; ++g) {
    if (g % 64 == 0 && tile.written[g / 64] == ~0ULL) {
      g += 63;
      continue;
    }
    if (test_bit(tile.written, g)) continue;
    for (std::uint64_t at = g * granule; at < (g + 1) * granule; ++at) tile.data[at] = element[at % item];
  }
}

}  // namespace nkigrid::nkisim
