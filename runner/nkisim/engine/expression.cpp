#include <algorithm>
#include <cmath>

#include "runner/nkisim/diagnose/watch.hpp"
#include "runner/nkisim/engine/exec.hpp"

namespace nkigrid::nkisim {
namespace {

template <class T>
T constant_of(double value) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(value);
  } else {
    const double whole = value == value ? std::clamp(std::nearbyint(value), -2147483648.0, 4294967295.0) : 0.0;
    return static_cast<T>(static_cast<std::uint32_t>(static_cast<std::int64_t>(whole)));
  }
}
template <class T>
T index_value(std::int64_t value) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(value);
  } else {
    return static_cast<T>(static_cast<std::uint32_t>(value));
  }
}

bool same(const Index& a, const Index& b) {
  if (a.base.constant != b.base.constant || a.slots != b.slots || a.base.terms.size() != b.base.terms.size())
    return false;
  for (std::size_t k = 0; k < a.base.terms.size(); ++k) {
    if (a.base.terms[k].atom != b.base.terms[k].atom || a.base.terms[k].coefficient != b.base.terms[k].coefficient)
      return false;
  }
  return true;
}
bool same(const Access& a, const Access& b) {
  return a.buffer == b.buffer && !a.dynamic && !b.dynamic &&
         std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(),
                    [](const Index& x, const Index& y) { return same(x, y); });
}

/// No two points of the space are one element, as far as slots alone can tell: each axis moves one dimension of its
/// own.
bool touches_each_once(const Access& access) {
  for (std::size_t axis = 0; !access.dims.empty() && axis < access.dims[0].slots.size(); ++axis) {
    int moved = 0;
    for (const Index& dim : access.dims) {
      if (dim.slots[axis] == 0) continue;
      ++moved;
      for (std::size_t other = 0; other < dim.slots.size(); ++other) {
        if (other != axis && dim.slots[other] != 0) return false;
      }
    }
    if (moved == 0) return false;
  }
  return true;
}

}  // namespace

bool must_defer(const Program& program, const Access& dst, const std::vector<Source>& sources) {
  const std::uint32_t root = root_of(program, dst.buffer);
  return std::any_of(sources.begin(), sources.end(), [&](const Source& source) {
    if (source.kind != Source::Kind::access) return false;
    if (source.access.dynamic && root_of(program, source.access.dynamic->buffer) == root) return true;
    if (root_of(program, source.access.buffer) != root) return false;
    return !same(source.access, dst) || !touches_each_once(dst);
  });
}

template <class T>
Expression<T>::Expression(Space& space, const std::vector<Source>& sources, const std::vector<Step>& steps)
    : steps_(steps) {
  for (const Source& source : sources) {
    Input input;
    input.kind = source.kind;
    switch (source.kind) {
      case Source::Kind::access:
        input.view = space.add(source.access);
        break;
      case Source::Kind::constant:
        input.constant = constant_of<T>(source.constant);
        break;
      case Source::Kind::index:
        input.form = space.add(source.index);
        break;
    }
    inputs_.push_back(std::move(input));
  }
}

template <class T>
bool Expression<T>::begin_row(Machine& machine, const Space& space, std::size_t axis, std::int64_t lo,
                              std::int64_t hi) {
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    Input& in = inputs_[k];
    T* first = machine.buffer<T>(k);
    switch (in.kind) {
      case Source::Kind::constant:
        in.scalar = true;
        *first = in.constant;
        break;
      case Source::Kind::index:
        in.step = space.step(in.form, axis);
        in.start = machine.values[in.form] + in.step * lo;
        in.scalar = in.step == 0;
        if (in.scalar) *first = index_value<T>(in.start);
        break;
      case Source::Kind::access:
        if (!machine.resolve(space, in.view, axis, lo, hi, in.row)) return false;
        in.scalar = in.row.stride == 0;
        machine.note_read(in.view, in.row, in.scalar ? 1 : static_cast<std::size_t>(hi - lo));
        if (in.scalar) Rows<T>::load(machine.rows, in.view.dtype, in.row.at, 0, 1, first);
        break;
    }
  }
  return true;
}

template <class T>
Operand<T> Expression<T>::input(Machine& machine, std::size_t k, std::int64_t skip, std::size_t n) {
  const Input& in = inputs_[k];
  T* values = machine.buffer<T>(k);
  if (in.scalar) return {values, true};
  if (in.kind == Source::Kind::index) {
    const std::int64_t start = in.start + in.step * skip;
    for (std::size_t j = 0; j < n; ++j) values[j] = index_value<T>(start + in.step * static_cast<std::int64_t>(j));
    return {values, false};
  }
  const std::byte* at = in.row.at + in.row.stride * skip;
  constexpr Dtype kSame = std::is_same_v<T, float> ? Dtype::float32 : Dtype::int32;
  if (in.view.dtype == kSame && in.row.stride == 4) return {reinterpret_cast<const T*>(at), false};
  Rows<T>::load(machine.rows, in.view.dtype, at, in.row.stride, n, values);
  return {values, false};
}

template <class T>
Operand<T> Expression<T>::evaluate(Machine& machine, std::int64_t skip, std::size_t n, T* out) {
  std::array<Operand<T>, kMaxSources + kMaxSteps> operands;
  for (std::size_t k = 0; k < inputs_.size(); ++k) operands[k] = input(machine, k, skip, n);
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const Step& step = steps_[k];
    Operand<T> args[3];
    bool scalar = true;
    for (int a = 0; a < arity(step.fn); ++a) {
      args[a] = operands[step.operands[static_cast<std::size_t>(a)]];
      scalar = scalar && args[a].scalar;
    }
    if (machine.watch != nullptr) note_step(machine, step, args, scalar ? 1 : n);
    const bool last = k + 1 == steps_.size();
    T* to = last && out != nullptr && !scalar ? out : machine.buffer<T>(inputs_.size() + k);
    if constexpr (std::is_same_v<T, float>) {
      machine.rows.apply_f32(step.fn, args, scalar ? 1 : n, to);
    } else {
      machine.rows.apply_i32(step.fn, args, scalar ? 1 : n, to);
    }
    operands[inputs_.size() + k] = {to, scalar};
  }
  return steps_.empty() ? operands[0] : operands[inputs_.size() + steps_.size() - 1];
}

template <class T>
void Expression<T>::note_step(Machine& machine, const Step& step, const Operand<T>* args, std::size_t n) const {
  if constexpr (std::is_same_v<T, float>) {
    const std::size_t which = Watch::operand_of_interest(step.fn);
    std::size_t from = step.operands[which];
    while (from >= inputs_.size()) from = steps_[from - inputs_.size()].operands[0];  // the variable that it began with
    const Input& source = inputs_[from];
    const std::int64_t buffer =
        source.kind == Source::Kind::access ? static_cast<std::int64_t>(source.view.buffer) : -1;
    machine.watch->operand(step.fn, machine.line, buffer, args[which].data, args[which].scalar ? 1 : n);
  }
}

template <class T>
Store<T>::Store(Space& space, const Access& dst, std::uint8_t accumulate, const std::vector<std::uint32_t>& loops,
                bool defer, const Lowering& lowering)
    : view_(space.add(dst)), accumulate_(accumulate), defer_(defer) {
  for (const std::uint32_t id : loops) loops_.push_back(lowering.loop_numbers.at(id));
}

template <class T>
void Store<T>::begin(Machine& machine) {
  first_trip_ = !loops_.empty() &&
                std::all_of(loops_.begin(), loops_.end(), [&](std::uint32_t l) { return machine.trips[l] == 0; });
}

template <class T>
void Store<T>::write(Machine& machine, const RowAt& row, std::size_t n, const T* values) {
  const bool overwrite = accumulate_ == kNoAccumulate || (first_trip_ && !row.tile->filled);
  if (!overwrite) {
    machine.note_read(view_, row, n);
    T* old = machine.buffer<T>(kOldBuffer);
    Rows<T>::load(machine.rows, view_.dtype, row.at, row.stride, n, old);
    const Operand<T> operands[2] = {{old, false}, {values, false}};
    Rows<T>::apply(machine.rows, static_cast<Fn>(accumulate_), operands, n, old);
    values = old;
  }
  Rows<T>::store(machine.rows, view_.dtype, row.at, row.stride, n, values, machine.poison.int_byte);
  if (loops_.empty()) {
    machine.mark(view_.root, *row.tile, row.offset, row.stride, view_.item, n);
  } else if (!row.tile->written.empty()) {
    machine.mark_written(view_.root, *row.tile, row.offset, row.stride, view_.item, n);
  }
}

template <class T>
void Store<T>::put(Machine& machine, const RowAt& row, std::int64_t skip, std::size_t n, const T* values) {
  RowAt part = row;
  part.at += row.stride * skip;
  part.offset += row.stride * skip;
  if (!defer_) return write(machine, part, n, values);
  machine.check_memory((held_.size() + n) * sizeof(T) + pending_.size() * sizeof(Pending));
  pending_.push_back({part, n, held_.size()});
  held_.insert(held_.end(), values, values + n);
}

template <class T>
void Store<T>::finish(Machine& machine) {
  for (const Pending& p : pending_) write(machine, p.row, p.n, held_.data() + p.first);
  pending_.clear();
  held_.clear();
}

template <class T>
float* Store<T>::direct(const RowAt& row, std::int64_t skip) const {
  const bool may = std::is_same_v<T, float> && !defer_ && accumulate_ == kNoAccumulate &&
                   view_.dtype == Dtype::float32 && row.stride == 4;
  return may ? reinterpret_cast<float*>(row.at) + skip : nullptr;
}

template <class T>
void Store<T>::mark_direct(Machine& machine, const RowAt& row, std::int64_t skip, std::size_t n) const {
  machine.mark(view_.root, *row.tile, row.offset + row.stride * skip, row.stride, view_.item, n);
}

template class Store<float>;
template class Store<std::int32_t>;
template class Expression<float>;
template class Expression<std::int32_t>;

}  // namespace nkigrid::nkisim
