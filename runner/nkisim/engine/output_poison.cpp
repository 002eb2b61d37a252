#include "runner/nkisim/engine/output_poison.hpp"

#include <array>

#include "runner/nkisim/program/ranges.hpp"

namespace nkigrid::nkisim {
namespace {

class Reads {
 public:
  explicit Reads(const Program& program) : program_(program), read_(program.buffers.size(), false) {
    block(program.body);
  }
  std::vector<bool> take() { return std::move(read_); }

 private:
  void block(const Block& nodes) {
    for (const Node& node : nodes) std::visit([&](const auto& what) { look(what); }, node.what);
  }
  void read(const Access& access) {
    read_[root_of(program_, access.buffer)] = true;
    index(access);
  }
  void index(const Access& access) {
    if (access.dynamic) read(*access.dynamic);
  }
  void read(const Source& source) {
    if (source.kind == Source::Kind::access) read(source.access);
  }
  void look(const Loop& loop) { block(loop.body); }
  void look(const If& branch) {
    block(branch.then_body);
    block(branch.else_body);
  }
  void look(const Alloc&) {}
  void look(const Map& map) { expression(map); }
  void look(const Fold& fold) { expression(fold); }
  template <class Op>
  void expression(const Op& op) {
    for (const Source& source : op.sources) read(source);
    op.accumulate == kNoAccumulate ? index(op.dst) : read(op.dst);
  }
  void look(const Matmul& matmul) {
    for (const Access* access : {&matmul.dst, &matmul.stationary, &matmul.moving}) read(*access);
  }
  void look(const Scan& scan) {
    for (const Source* source : {&scan.data0, &scan.data1, &scan.initial}) read(*source);
  }
  void look(const SpecialOp& special) {
    for (const Source& source : special.sources) read(source);
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
