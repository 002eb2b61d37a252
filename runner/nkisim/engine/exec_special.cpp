#include "runner/nkisim/engine/exec.hpp"
#include "runner/nkisim/engine/machine.hpp"
#include "runner/nkisim/specials/special.hpp"

namespace nkigrid::nkisim {
namespace {

/// One operand of a special, a partition at a time: the free axes of its shape in row-major order.
class PartitionRows {
 public:
  PartitionRows(const Access& access, const std::vector<std::int64_t>& shape, const Lowering& lowering)
      : space_(lowering.program, lowering.ranges, shape, {}), view_(space_.add(access)) {
    space_.layout_fixed();
    for (std::size_t axis = 1; axis < shape.size(); ++axis) size_ *= static_cast<std::size_t>(shape[axis]);
  }
  void read(Machine& machine, std::int64_t partition, std::vector<float>& out) {
    out.resize(size_);
    each_row(machine, partition, [&](const RowAt& row, std::size_t first, std::size_t n) {
      machine.note_read(view_, row, n);
      Rows<float>::load(machine.rows, view_.dtype, row.at, row.stride, n, out.data() + first);
    });
  }
  template <class T>
  void write(Machine& machine, std::int64_t partition, const std::vector<T>& values) {
    each_row(machine, partition, [&](const RowAt& row, std::size_t first, std::size_t n) {
      Rows<T>::store(machine.rows, view_.dtype, row.at, row.stride, n, values.data() + first, machine.poison.int_byte);
      machine.mark(view_.root, *row.tile, row.offset, row.stride, view_.item, n);
    });
  }

 private:
  template <class F>
  void each_row(Machine& machine, std::int64_t partition, F f) {
    space_.begin(machine.atoms.data(), machine.values);
    space_.move(machine.values, 0, partition);
    const std::size_t row = space_.rank() - 1;
    Odometer odometer(space_, machine.values, 1, row);
    std::size_t first = 0;
    do {
      RowAt at;
      machine.resolve(space_, view_, row, 0, space_.extent(row), at);
      f(at, first, static_cast<std::size_t>(space_.extent(row)));
      first += static_cast<std::size_t>(space_.extent(row));
    } while (odometer.next());
  }

  Space space_;
  View view_;
  std::size_t size_ = 1;
};

/// Lets a special run over its tiles.
class SpecialExec final : public Exec, private SpecialRows {
 public:
  SpecialExec(const SpecialOp& op, const Lowering& lowering)
      : operation_(*operation_of(op.kind)),
        kept_attributes_(op.attributes),
        condition_(lowering.program, lowering.ranges, {1}, slotless(op.head.mask)) {
    for (std::size_t k = 0; k < op.sources.size(); ++k) {
      sources_.emplace_back(op.sources[k].access, operand_shape(op.head.shape, operation_.sources[k]), lowering);
    }
    for (std::size_t k = 0; k < op.destinations.size(); ++k) {
      destinations_.emplace_back(op.destinations[k], operand_shape(op.head.shape, operation_.destinations[k]),
                                 lowering);
    }
    values_.resize(sources_.size());
    partitions = op.head.shape[0];
    destinations = destinations_.size();
    attributes = kept_attributes_;
    condition_.layout_fixed();
  }

  void run(Machine& machine) override {
    condition_.begin(machine.atoms.data(), machine.values);
    Space::Spans spans;
    if (condition_.spans(machine.values.data(), 0, spans) == 0) return;
    machine_ = &machine;
    operation_.run(*this);
  }

 private:
  /// Its conditions have no slots (validate), so one point stands for all.
  static std::vector<Condition> slotless(std::vector<Condition> mask) {
    for (Condition& condition : mask) condition.value.slots.assign(1, 0);
    return mask;
  }
  std::vector<float>& read(std::size_t source, std::int64_t partition) override {
    sources_[source].read(*machine_, partition, values_[source]);
    return values_[source];
  }
  void write(std::size_t destination, std::int64_t partition, const std::vector<float>& values) override {
    destinations_[destination].write(*machine_, partition, values);
  }
  void write(std::size_t destination, std::int64_t partition, const std::vector<std::int32_t>& values) override {
    destinations_[destination].write(*machine_, partition, values);
  }

  const SpecialOperation& operation_;
  std::vector<double> kept_attributes_;
  Space condition_;
  std::vector<PartitionRows> sources_, destinations_;
  std::vector<std::vector<float>> values_;  ///< a source's row
  Machine* machine_ = nullptr;              ///< of the run at work
};

}  // namespace

std::unique_ptr<Exec> lower(const SpecialOp& special, const Lowering& lowering) {
  return std::make_unique<SpecialExec>(special, lowering);
}

}  // namespace nkigrid::nkisim
