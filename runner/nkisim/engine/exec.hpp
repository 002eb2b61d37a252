#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "runner/nkisim/engine/rows.hpp"
#include "runner/nkisim/engine/run.hpp"
#include "runner/nkisim/engine/space.hpp"
#include "runner/nkisim/engine/storage.hpp"

/// The executable tree. lower() turns a valid program into it once; run() of each node then evaluates offsets only.
/// Internal to the room.
namespace nkigrid::nkisim {

/// Where a row of a view lies: element j of the span begun at lo is at `at + j * stride`.
struct RowAt {
  std::byte* at = nullptr;
  std::int64_t stride = 0;
  Tile* tile = nullptr;
  std::int64_t offset = 0;  ///< of `at` in the tile [bytes]
  std::uint64_t block = 0;  ///< the tile's number in its buffer
};

class Watch;

/// All that changes while a program runs.
class Machine {
 public:
  Machine(const Program& program, const Poison& poison, const RunLimits& limits);

  std::vector<std::int64_t> atoms;   ///< by atom id
  std::vector<std::int64_t> trips;   ///< by dense loop number
  std::vector<Storage> storages;     ///< by root buffer id
  std::vector<std::int64_t> values;  ///< form values of the running operation
  std::uint32_t line = 0;
  std::uint64_t budget = 0;
  const Program& program;
  const Poison poison;
  const RowKernels& rows;
  Watch* watch = nullptr;  ///< sees reads and operands of a diagnosing run; null in others
  TripOrder order;

  /// Addresses of a view's row [lo, hi) on `axis`. @returns false when an out-of-bounds point is to be skipped. @throws
  /// Fault{oob}
  bool resolve(const Space& space, const View& view, std::size_t axis, std::int64_t lo, std::int64_t hi, RowAt& out);
  /// Row buffer k, kChunk values of four bytes.
  template <class T>
  T* buffer(std::size_t k) {
    return reinterpret_cast<T*>(scratch_.get()) + k * kChunk;
  }
  /// Keeps the written-bitmap of elements stored at `offset`, `stride` bytes apart.
  void mark(std::uint32_t root, Tile& tile, std::int64_t offset, std::int64_t stride, std::int64_t item,
            std::size_t n) {
    tile.filled = true;
    if (!tile.written.empty()) mark_written(root, tile, offset, stride, item, n);
  }
  /// As mark(), but the write does not count as a fill (looped accumulation).
  void mark_written(std::uint32_t root, Tile& tile, std::int64_t offset, std::int64_t stride, std::int64_t item,
                    std::size_t n);
  /// Shows the watch, if there is one, that n elements of a row are about to be read.
  void note_read(const View& view, const RowAt& row, std::size_t n) {
    if (watch != nullptr && !row.tile->written.empty()) tell_watch(view, row, n);
  }
  /// Charges memory that a deferred operation holds. @throws Fault{capacity}
  void check_memory(std::uint64_t bytes) const;

 private:
  void tell_watch(const View& view, const RowAt& row, std::size_t n);
  [[noreturn]] void out_of_bounds(const View& view, const View::Check& check, std::int64_t index) const;
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte[], Free> scratch_;
};

inline constexpr std::size_t kRowBuffers = kMaxSources + kMaxSteps + 4;
inline constexpr std::size_t kStoreBuffer = kMaxSources + kMaxSteps;  ///< for a broadcast result
inline constexpr std::size_t kOldBuffer = kStoreBuffer + 1;           ///< for the old value of an accumulation

struct Exec {
  std::uint32_t line = 0;
  virtual ~Exec() = default;
  virtual void run(Machine& machine) = 0;
};
using ExecBlock = std::vector<std::unique_ptr<Exec>>;
inline void run_block(const ExecBlock& block, Machine& machine) {
  for (const auto& exec : block) {
    machine.line = exec->line;
    exec->run(machine);
  }
}

/// What lowering knows.
struct Lowering {
  const Program& program;
  const Ranges& ranges;
  std::map<std::uint32_t, std::uint32_t> loop_numbers;  ///< loop id -> dense number
};
std::unique_ptr<Exec> lower(const Map& map, const Lowering& lowering);
std::unique_ptr<Exec> lower(const Fold& fold, const Lowering& lowering);
std::unique_ptr<Exec> lower(const Matmul& matmul, const Lowering& lowering);
std::unique_ptr<Exec> lower(const Scan& scan, const Lowering& lowering);
std::unique_ptr<Exec> lower(const SpecialOp& special, const Lowering& lowering);

/// True when an operation may read bytes that it has already written: then its stores wait until all is read.
bool must_defer(const Program& program, const Access& dst, const std::vector<Source>& sources);

/// The destination of map and fold: casts, accumulates, marks, defers.
template <class T>
class Store {
 public:
  Store(Space& space, const Access& dst, std::uint8_t accumulate, const std::vector<std::uint32_t>& loops, bool defer,
        const Lowering& lowering);

  const View& view() const { return view_; }
  void begin(Machine& machine);
  /// Elements [skip, skip + n) of a row.
  void put(Machine& machine, const RowAt& row, std::int64_t skip, std::size_t n, const T* values);
  void finish(Machine& machine);
  /// Where float32 results may be written straight away; null when they may not.
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

/// The expression of map and fold over rows.
template <class T>
class Expression {
 public:
  Expression(Space& space, const std::vector<Source>& sources, const std::vector<Step>& steps);

  /// Finds the sources' rows for [lo, hi). @returns false when the row is to be skipped.
  bool begin_row(Machine& machine, const Space& space, std::size_t axis, std::int64_t lo, std::int64_t hi);
  /// Values at lo + skip, n <= kChunk of them; into `out` when there are steps and `out` is given.
  Operand<T> evaluate(Machine& machine, std::int64_t skip, std::size_t n, T* out);
  /// Source k alone.
  Operand<T> input(Machine& machine, std::size_t k, std::int64_t skip, std::size_t n);

 private:
  /// Shows the operands of a step to the watch of a diagnosing run.
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

  std::vector<Input> inputs_;
  std::vector<Step> steps_;
};

extern template class Store<float>;
extern template class Store<std::int32_t>;
extern template class Expression<float>;
extern template class Expression<std::int32_t>;

}  // namespace nkigrid::nkisim
