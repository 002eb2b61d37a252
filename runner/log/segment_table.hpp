#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "runner/log/columns.hpp"
#include "runner/log/hdf5.hpp"
#include "runner/log/segment_reader.hpp"

/// Segments by their columns, for readers that want few of them.
namespace nkigrid::log {

/// One group with the columns that `Row` lists, loaded.
template <class Row>
class SegmentTable {
 public:
  SegmentTable(const h5::File& file, const char* name, bool with_texts = false, Damaged damaged = Damaged::refuse)
      : group_(h5::open_group(file, name)), reader_(group_, h5::rows_of(group_, "episode"), with_texts, damaged) {
    Row any;
    columns(any, reader_);
  }
  std::uint64_t rows() const noexcept { return reader_.rows(); }
  bool is_lost(std::uint64_t row) const noexcept { return reader_.is_lost(row); }
  /// Fills the listed fields of `row` from row `i`; what else it holds stays.
  void read(std::uint64_t i, Row& row) {
    reader_.begin_row(i);
    columns(row, reader_);
  }

 private:
  h5::Group group_;
  ColumnReader reader_;
};

/// Opens a segment, checks its header and hands it over; damage met on the way becomes Error{corrupt} that names the
/// file.
SegmentReport read_segment_file(const std::filesystem::path& file, const std::function<void(const h5::File&)>& read);

/// @throws Error{corrupt}: a turn's `attempt_row` is none of /attempts
[[noreturn]] void throw_no_attempt(std::uint64_t row, std::uint64_t attempt_row);

/// @throws Error{corrupt}: the values of a row contradict each other (contradiction.hpp)
[[noreturn]] void throw_contradiction(std::uint64_t row, std::string_view values);

}  // namespace nkigrid::log
