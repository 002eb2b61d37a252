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

/// Of the layout; the newest where the attribute is damaged: no older file says whose it is without it.
std::uint64_t version_of(const h5::File& file);

/// One group with the columns that `Row` lists, loaded.
template <class Row>
class SegmentTable {
 public:
  SegmentTable(const h5::File& file, const char* name, bool with_texts = false, Damaged damaged = Damaged::refuse)
      : group_(h5::open_group(file, name)),
        reader_(group_, version_of(file), h5::rows_of(group_, "episode"), with_texts, damaged) {
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

/// A segment of which the head was read.
class OpenSegment {
 public:
  /// @throws Error{corrupt} naming the file when it is no whole segment of a version we read
  explicit OpenSegment(const std::filesystem::path& file, const SealKey& key = {});
  const SegmentReport& head() const noexcept { return head_; }
  const std::filesystem::path& name() const noexcept { return name_; }

  /// Hands the file over; damage that `read` meets becomes Error{corrupt} that names the file.
  void read(const std::function<void(const h5::File&)>& read) const;

 private:
  std::filesystem::path name_;
  h5::File file_;
  SegmentReport head_;
};

/// read_segment() of an open one. @returns how many records were visited
std::uint64_t read_records(const OpenSegment& segment, const Selection& selection,
                           const std::function<void(std::uint64_t, Record&&)>& visit);

/// @throws Error{corrupt}: a turn's `attempt_row` is none of /attempts
[[noreturn]] void throw_no_attempt(std::uint64_t row, std::uint64_t attempt_row);

/// @throws Error{corrupt}: the values of a row contradict each other (contradiction.hpp)
[[noreturn]] void throw_contradiction(std::uint64_t row, std::string_view values);

}  // namespace nkigrid::log
