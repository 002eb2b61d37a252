#include <algorithm>

#include "runner/nkisim/engine/exec.hpp"
#include "runner/nkisim/engine/expression.hpp"
#include "runner/nkisim/engine/store.hpp"

namespace nkigrid::nkisim {
namespace {

float combine(const RowKernels& rows, Fn fn, float a, float b) {
  switch (fn) {
    case Fn::add:
      return a + b;
    case Fn::subtract:
      return a - b;
    case Fn::multiply:
      return a * b;
    default:
      break;
  }
  const Operand<float> operands[2] = {{&a, true}, {&b, true}};
  float out = 0;
  rows.apply_f32(fn, operands, 1, &out);
  return out;
}

/// r[j] = (data0[j] op0 r[j-1]) op1 data1[j] along the last axis, in float32.
class ScanExec final : public Exec {
 public:
  ScanExec(const Scan& scan, const Lowering& lowering)
      : space_(lowering.program, lowering.ranges, scan.head.shape, scan.head.mask),
        sources_(space_, {scan.data0, scan.data1, scan.initial}, {}),
        store_(space_, scan.dst, kNoAccumulate, {},
               must_defer(lowering.program, scan.dst, {scan.data0, scan.data1, scan.initial}), lowering),
        op0_(scan.op0),
        op1_(scan.op1) {
    space_.layout_fixed();
  }

  void run(Machine& machine) override {
    space_.begin(machine.atoms.data(), machine.values);
    store_.begin(machine);
    const std::size_t row = space_.rank() - 1;
    Space::Spans spans;
    Odometer odometer(space_, machine.values, 0, row);
    do {
      const int count = space_.spans(machine.values.data(), row, spans);
      for (int k = 0; k < count; ++k) scan(machine, row, spans[static_cast<std::size_t>(k)], k == 0);
    } while (odometer.next());
    store_.finish(machine);
  }

 private:
  void scan(Machine& machine, std::size_t row, Span span, bool first) {
    RowAt to;
    if (!machine.resolve(space_, store_.view(), row, span.lo, span.hi, to)) return;
    if (!sources_.begin_row(machine, space_, row, span.lo, span.hi)) return;
    if (first) state_ = *sources_.input(machine, 2, 0, 1).data;
    float* result = machine.buffer<float>(kStoreBuffer);
    const std::int64_t length = span.hi - span.lo;
    for (std::int64_t skip = 0; skip < length; skip += static_cast<std::int64_t>(kChunk)) {
      const std::size_t n = static_cast<std::size_t>(std::min<std::int64_t>(kChunk, length - skip));
      const Operand<float> a = sources_.input(machine, 0, skip, n), b = sources_.input(machine, 1, skip, n);
      const std::size_t sa = a.scalar ? 0 : 1, sb = b.scalar ? 0 : 1;
      for (std::size_t j = 0; j < n; ++j) {
        state_ = combine(machine.rows, op1_, combine(machine.rows, op0_, a.data[j * sa], state_), b.data[j * sb]);
        result[j] = state_;
      }
      store_.put(machine, to, skip, n, result);
    }
  }

  Space space_;
  Expression<float> sources_;
  Store<float> store_;
  Fn op0_, op1_;
  float state_ = 0;
};

}  // namespace

std::unique_ptr<Exec> lower(const Scan& scan, const Lowering& lowering) {
  return std::make_unique<ScanExec>(scan, lowering);
}

}  // namespace nkigrid::nkisim
