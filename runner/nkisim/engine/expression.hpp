#pragma once

#include <cstdint>
#include <vector>

#include "runner/nkisim/engine/machine.hpp"

/// How sources and steps become rows of values. Internal to the room.
namespace nkigrid::nkisim {

/// The expression of map and fold over rows.
template <class T>
class Expression {
 public:
  Expression(Space& space, const std::vector<Source>& sources, const std::vector<Step>& steps);

  /// Finds the sources' rows for [lo, hi). @returns false when the row is to be skipped.
  bool begin_row(Machine& machine, const Space& space, std::size_t axis, std::int64_t lo, std::int64_t hi);
  /// fetch_next() of the sources.
  void fetch_next_row(const Machine& machine, const Space& space, std::size_t axis, std::int64_t length) const;
  /// How many values of the row that was begun may be worked on at once, where they go straight to memory.
  std::size_t most_at_once() const;
  /// Values at lo + skip, n <= kChunk of them; into `out` when there are steps and `out` is given. With `out`, n <=
  /// most_at_once().
  Operand<T> evaluate(Machine& machine, std::int64_t skip, std::size_t n, T* out);
  /// Source k alone.
  Operand<T> input(Machine& machine, std::size_t k, std::int64_t skip, std::size_t n);

 private:
  /// Shows the operands of a step to the observer of a diagnosing run.
  void note_step(Machine& machine, const Step& step, const Operand<T>* args, std::size_t n) const;
  struct Input {
    Source::Kind kind = Source::Kind::access;
    View view;
    T constant = 0;
    std::uint32_t form = 0;
    RowAt row;
    std::int64_t start = 0, step = 0;
    bool scalar = false;
  };
  static bool is_in_place(const Input& in);

  std::vector<Input> inputs_;
  std::vector<Step> steps_;
};

extern template class Expression<float>;
extern template class Expression<std::int32_t>;

}  // namespace nkigrid::nkisim
