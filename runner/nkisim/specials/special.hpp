#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runner/nkisim/numbers/numbers.hpp"

/// Specials: operations on the rows of a tile that map, fold, matmul and scan cannot say. One file each, NAME.cpp,
/// listed in numbers.def; the validator asks it what is legal, the engine lets it run. Internal to the room.
namespace nkigrid::nkisim {

inline constexpr int kWholeShape = -1;

/// The operands of a special while it runs: a row of values a partition. Where they lie and what their dtypes are is
/// the engine's affair, which gives and takes float32 (or int32, for places).
class SpecialRows {
 public:
  virtual ~SpecialRows() = default;

  std::int64_t partitions = 0;
  std::size_t destinations = 0;  ///< that the program gives; more than the obligatory ones where some are optional
  std::span<const double> attributes;  ///< as many as the special declares

  /// The values of a source on a partition. The caller may change them; they last until its next row is read.
  virtual std::vector<float>& read(std::size_t source, std::int64_t partition) = 0;
  /// @pre as many values as the special declares for the destination. A special that reads a partition after it wrote
  /// any other copies first: source and destination may be one tile.
  virtual void write(std::size_t destination, std::int64_t partition, const std::vector<float>& values) = 0;
  virtual void write(std::size_t destination, std::int64_t partition, const std::vector<std::int32_t>& values) = 0;
};

/// What the validator knows of one use.
struct SpecialUse {
  std::int64_t partitions = 0, values = 0;  ///< of the data
  std::span<const double> attributes;
};

/// One special. Its cost stands in numbers.def, as every instruction's.
struct SpecialOperation {
  /// Values a partition of each operand, or kWholeShape; source 0 is the data.
  std::vector<int> sources, destinations;
  std::size_t attributes = 0;
  std::size_t optional_destinations = 0;  ///< how many of the last destinations may be missing
  /// What is wrong with a use of the right form; null when nothing is, or there is nothing to ask.
  const char* (*problem)(const SpecialUse& use) = nullptr;
  void (*run)(SpecialRows& rows) = nullptr;
};

/// The space that an operand is accessed over: the data's `shape`, or `values` a partition along its last axis.
std::vector<std::int64_t> operand_shape(const std::vector<std::int64_t>& shape, int values);

/// Null for the kinds that are reserved.
const SpecialOperation* operation_of(Special kind) noexcept;

/// Each in its file.
namespace specials {
#define SPECIAL(special, instr, name, ...) extern const SpecialOperation name;
#include "runner/nkisim/numbers/numbers.def"
}  // namespace specials

}  // namespace nkigrid::nkisim
