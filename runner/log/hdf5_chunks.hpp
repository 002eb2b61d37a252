#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runner/log/hdf5.hpp"

namespace nkigrid::log::h5 {

/// What writers choose: rows of a column's chunk, but for a shorter column, and bytes of the texts' (a transcript's
/// texts are a few tens of kB). Readers take no other.
inline constexpr std::uint64_t kColumnChunk = 16384;
inline constexpr std::uint64_t kTextChunk = 256 * 1024;

/// The chunks of a dataset of a finished file, read and unpacked here: HDF5's own filters unpack a chunk to whatever
/// size it chooses, and its cache reads on behind one that is too short (1.10.8), so that a small forged file fills
/// memory or shows it.
class Chunks {
 public:
  /// @param dataset 1-D, as our writers make them: its bytes lie in this very file, in chunks of a writer's size,
  /// shuffled and deflated or not; outlives this
  /// @throws Error{corrupt} for any other
  Chunks(const Dataset& dataset, std::string name);

  std::uint64_t rows() const noexcept { return rows_; }
  std::uint64_t rows_a_chunk() const noexcept { return chunk_; }
  /// Of a value, in bytes.
  std::size_t width() const noexcept { return width_; }

  /// All rows of chunk `index`, those behind the dataset's last, too. @throws Error{corrupt} where what is stored does
  /// not unpack to exactly that
  std::string read(std::uint64_t index) const;
  /// Copies rows [at, at + count), which must be there, to `to`.
  void read_rows(std::uint64_t at, std::uint64_t count, char* to) const;

 private:
  void take_layout(Hid made_so);
  void take_filters(Hid made_so);
  [[noreturn]] void refuse(std::string_view why) const;

  Hid dataset_;
  std::string name_;
  std::uint64_t rows_ = 0, chunk_ = 0;
  std::size_t width_ = 0;
  std::uint32_t shuffle_ = 0, deflate_ = 0;  ///< their bits in the mask of a chunk that was stored without; 0: none
};

}  // namespace nkigrid::log::h5
