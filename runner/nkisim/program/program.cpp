#include "runner/nkisim/program/program.hpp"

#include <bit>
#include <unordered_set>

namespace nkigrid::nkisim {
namespace {

constexpr std::size_t kFewNumbers = 256;

/// The numbers that stand in the instructions themselves, each once.
class Immediates {
 public:
  void look_at(const Block& block) {
    for (const Node& node : block) std::visit([this](const auto& what) { look_at(what); }, node.what);
  }
  /// An engine takes them as float32. A few are nobody's table: scales, offsets, the coefficients of a series.
  std::size_t bytes() const { return seen_.size() > kFewNumbers ? seen_.size() * sizeof(float) : 0; }

 private:
  void look_at(const Loop& loop) { look_at(loop.body); }
  void look_at(const If& branch) {
    look_at(branch.then_body);
    look_at(branch.else_body);
  }
  void look_at(const Alloc& alloc) {
    if (alloc.fill) note(*alloc.fill);
  }
  void look_at(const Map& map) { look_at(map.sources); }
  void look_at(const Fold& fold) { look_at(fold.sources); }
  void look_at(const Matmul&) {}
  void look_at(const Scan& scan) {
    for (const Source* source : {&scan.data0, &scan.data1, &scan.initial}) look_at(*source);
  }
  void look_at(const SpecialOp& special) {
    look_at(special.sources);
    for (const double attribute : special.attributes) note(attribute);
  }
  void look_at(const std::vector<Source>& sources) {
    for (const Source& source : sources) look_at(source);
  }
  void look_at(const Source& source) {
    if (source.kind == Source::Kind::constant) note(source.constant);
    if (source.kind == Source::Kind::index) note(static_cast<double>(source.index.base.constant));
  }
  void note(double value) { seen_.insert(std::bit_cast<std::uint64_t>(value)); }

  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

std::size_t constant_bytes(const Program& program) {
  std::size_t total = 0;
  for (const Buffer& buffer : program.buffers) total += buffer.data.size();
  Immediates immediates;
  immediates.look_at(program.body);
  return total + immediates.bytes();
}

}  // namespace nkigrid::nkisim
