#include "runner/nkisim/engine/expression.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "runner/nkisim/engine/observer.hpp"

namespace nkigrid::nkisim {
namespace {

template <class T>
T constant_of(double value) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(value);
  } else {
    return integer_of(value);
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

}  // namespace

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
void Expression<T>::fetch_next_row(const Machine& machine, const Space& space, std::size_t axis,
                                   std::int64_t length) const {
  for (const Input& in : inputs_) {
    if (in.kind == Source::Kind::access) fetch_next(machine, space, in.view, in.row, axis, length);
  }
}

/// Its values are used where they lie.
template <class T>
bool Expression<T>::is_in_place(const Input& in) {
  constexpr Dtype kSame = std::is_same_v<T, float> ? Dtype::float32 : Dtype::int32;
  return in.kind == Source::Kind::access && in.view.dtype == kSame && in.row.stride == 4;
}

/// One arithmetic step over values in memory needs no row buffer, which holds kChunk values at most: neither does a
/// source that no step uses. What is stored between two chunks costs a long row more than its arithmetic: it breaks the
/// stream of whole lines that a processor writes without reading them first.
template <class T>
std::size_t Expression<T>::most_at_once() const {
  constexpr std::size_t kStream = 64 * kChunk;
  const auto passes_once = [](Fn fn) { return fn == Fn::add || fn == Fn::subtract || fn == Fn::multiply; };
  if (steps_.size() != 1 || !passes_once(steps_[0].fn)) return kChunk;
  if (inputs_[steps_[0].operands[0]].scalar && inputs_[steps_[0].operands[1]].scalar) return kChunk;
  const auto streams = [](const Input& in) { return in.scalar || is_in_place(in); };
  return std::all_of(inputs_.begin(), inputs_.end(), streams) ? kStream : kChunk;
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
  if (is_in_place(in)) return {reinterpret_cast<const T*>(at), false};
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
    if (machine.observer != nullptr) note_step(machine, step, args, scalar ? 1 : n);
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
    const std::size_t which = machine.observer->operand_of_interest(step.fn);
    std::size_t from = step.operands[which];
    while (from >= inputs_.size()) from = steps_[from - inputs_.size()].operands[0];  // the variable that it began with
    const Input& source = inputs_[from];
    const std::int64_t buffer =
        source.kind == Source::Kind::access ? static_cast<std::int64_t>(source.view.buffer) : -1;
    machine.observer->operand(step.fn, machine.line, buffer, args[which].data, args[which].scalar ? 1 : n);
  }
}

template class Expression<float>;
template class Expression<std::int32_t>;

}  // namespace nkigrid::nkisim
