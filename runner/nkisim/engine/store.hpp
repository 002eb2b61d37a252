#pragma once

#include <cstdint>
#include <vector>

#include "runner/nkisim/engine/exec.hpp"
#include "runner/nkisim/engine/machine.hpp"

/// How results reach their destination. Internal to the room.
namespace nkigrid::nkisim {

/// True when an operation may read bytes that it has already written: then its stores wait until all is read.
bool must_defer(const Program& program, const Access& dst, const std::vector<Source>& sources);

/// The destination of map, fold and scan: casts, accumulates, marks, defers. One run of an operation is begin(), any
/// number of put(), finish().
template <class T>
class Store {
 public:
  Store(Space& space, const Access& dst, std::uint8_t accumulate, const std::vector<std::uint32_t>& loops, bool defer,
        const Lowering& lowering);

  const View& view() const { return view_; }
  void begin(Machine& machine);
  /// Elements [skip, skip + n) of a row; kept until finish() when the stores wait.
  void put(Machine& machine, const RowAt& row, std::int64_t skip, std::size_t n, const T* values);
  void finish(Machine& machine);
  /// Where float32 results may be computed in place of a put(); null when they may not. mark_direct() follows.
  float* direct(const RowAt& row, std::int64_t skip) const;
  void mark_direct(Machine& machine, const RowAt& row, std::int64_t skip, std::size_t n) const;

 private:
  struct Pending {
    RowAt row;
    std::size_t n = 0, first = 0;
  };
  void write(Machine& machine, const RowAt& row, std::size_t n, const T* values);

  View view_;
  std::uint8_t accumulate_;
  std::vector<std::uint32_t> loops_;
  bool defer_, first_trip_ = false;
  std::vector<Pending> pending_;
  std::vector<T> held_;
};

extern template class Store<float>;
extern template class Store<std::int32_t>;

}  // namespace nkigrid::nkisim
