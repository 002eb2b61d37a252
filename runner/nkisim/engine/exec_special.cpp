#include <algorithm>
#include <cmath>
#include <limits>

#include "runner/nkisim/engine/exec.hpp"
#include "runner/nkisim/program/special.hpp"

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
  std::size_t size() const { return size_; }

  template <class T>
  void read(Machine& machine, std::int64_t partition, std::vector<T>& out) {
    out.resize(size_);
    each_row(machine, partition, [&](const RowAt& row, std::size_t first, std::size_t n) {
      machine.note_read(view_, row, n);
      Rows<T>::load(machine.rows, view_.dtype, row.at, row.stride, n, out.data() + first);
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

void moments(const std::vector<float>& data, std::size_t first, float* out) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t j = first; j < data.size(); j += 2, ++count) sum += static_cast<double>(data[j]);
  const double mean = count > 0 ? sum / count : 0;
  for (std::size_t j = first; j < data.size(); j += 2) {
    const double d = static_cast<double>(data[j]) - mean;
    squares += d * d;
  }
  out[0] = static_cast<float>(count);
  out[1] = static_cast<float>(mean);
  out[2] = static_cast<float>(squares);
}

std::vector<float> bn_stats(const std::vector<float>& data) {
  std::vector<float> out(6);
  moments(data, 0, out.data());
  moments(data, 1, out.data() + 3);
  return out;
}

std::vector<float> bn_aggr(const std::vector<float>& groups) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t g = 0; g + 2 < groups.size(); g += 3) {
    count += static_cast<double>(groups[g]);
    sum += static_cast<double>(groups[g]) * static_cast<double>(groups[g + 1]);
  }
  const double mean = sum / count;
  for (std::size_t g = 0; g + 2 < groups.size(); g += 3) {
    const double d = static_cast<double>(groups[g + 1]) - mean;
    squares += static_cast<double>(groups[g + 2]) + static_cast<double>(groups[g]) * d * d;
  }
  return {static_cast<float>(mean), static_cast<float>(squares / count)};
}

/// The eight largest, falling; NaN before everything, as poison must show.
std::vector<float> max8(std::vector<float> data) {
  const auto before = [](float a, float b) { return std::isnan(a) ? !std::isnan(b) : a > b; };
  std::partial_sort(data.begin(), data.begin() + 8, data.end(), before);
  data.resize(8);
  return data;
}

/// Places of the values in data; `taken`: a place serves one value only.
std::vector<std::int32_t> places(const std::vector<float>& data, const std::vector<float>& values, bool taken) {
  std::vector<std::int32_t> out(values.size(), -1);
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (std::size_t j = 0; j < data.size(); ++j) {
      const auto place = static_cast<std::int32_t>(j);
      if (data[j] != values[k] || (taken && std::find(out.begin(), out.end(), place) != out.end())) continue;
      out[k] = place;
      break;
    }
  }
  return out;
}

class SpecialExec final : public Exec {
 public:
  SpecialExec(const SpecialOp& op, const Lowering& lowering)
      : kind_(op.kind),
        attributes_(op.attributes),
        partitions_(op.head.shape[0]),
        condition_(lowering.program, lowering.ranges, {1}, slotless(op.head.mask)) {
    const SpecialSignature signature = *signature_of(op.kind);
    const auto shape_of = [&](int values) {
      if (values == kWholeShape) return op.head.shape;
      std::vector<std::int64_t> shape(op.head.shape.size(), 1);
      shape.front() = op.head.shape.front();
      shape.back() = values;
      return shape;
    };
    for (std::size_t k = 0; k < op.sources.size(); ++k) {
      sources_.emplace_back(op.sources[k].access, shape_of(signature.sources[k]), lowering);
    }
    for (std::size_t k = 0; k < op.destinations.size(); ++k) {
      destinations_.emplace_back(op.destinations[k], shape_of(signature.destinations[k]), lowering);
    }
    condition_.layout_fixed();
  }

  void run(Machine& machine) override {
    condition_.begin(machine.atoms.data(), machine.values);
    Space::Spans spans;
    if (condition_.spans(machine.values.data(), 0, spans) == 0) return;
    if (kind_ == Special::stream_shuffle) return shuffle(machine);
    std::vector<float> data, values;
    for (std::int64_t p = 0; p < partitions_; ++p) {
      sources_[0].read(machine, p, data);
      if (sources_.size() > 1) sources_[1].read(machine, p, values);
      switch (kind_) {
        case Special::bn_stats:
          destinations_[0].write(machine, p, bn_stats(data));
          break;
        case Special::bn_aggr:
          destinations_[0].write(machine, p, bn_aggr(data));
          break;
        case Special::max8:
          destinations_[0].write(machine, p, max8(data));
          break;
        case Special::find_index8:
          destinations_[0].write(machine, p, places(data, values, false));
          break;
        default:
          replace(machine, p, data, values);
          break;
      }
    }
  }

 private:
  /// Its conditions have no slots, so one point stands for all.
  static std::vector<Condition> slotless(std::vector<Condition> mask) {
    for (Condition& condition : mask) condition.value.slots.assign(1, 0);
    return mask;
  }
  void replace(Machine& machine, std::int64_t p, std::vector<float>& data, const std::vector<float>& values) {
    const std::vector<std::int32_t> found = places(data, values, true);
    for (const std::int32_t place : found) {
      if (place >= 0) data[static_cast<std::size_t>(place)] = static_cast<float>(attributes_[0]);
    }
    destinations_[0].write(machine, p, data);
    if (destinations_.size() > 1) destinations_[1].write(machine, p, found);
  }
  /// All partitions are read before any is written: source and destination may be one tile.
  void shuffle(Machine& machine) {
    std::vector<std::vector<float>> rows(static_cast<std::size_t>(partitions_));
    for (std::int64_t p = 0; p < partitions_; ++p) sources_[0].read(machine, p, rows[static_cast<std::size_t>(p)]);
    for (std::int64_t p = 0; p < partitions_; ++p) {
      const auto from = static_cast<std::int64_t>(attributes_[static_cast<std::size_t>(p % 32)]);
      if (from != 255) destinations_[0].write(machine, p, rows[static_cast<std::size_t>(p / 32 * 32 + from)]);
    }
  }

  Special kind_;
  std::vector<double> attributes_;
  std::int64_t partitions_;
  Space condition_;
  std::vector<PartitionRows> sources_, destinations_;
};

}  // namespace

std::unique_ptr<Exec> lower(const SpecialOp& special, const Lowering& lowering) {
  return std::make_unique<SpecialExec>(special, lowering);
}

}  // namespace nkigrid::nkisim
