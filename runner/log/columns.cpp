#include "runner/log/columns.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "jobs/base/error.hpp"

namespace nkigrid::log {

ColumnWriter::Column& ColumnWriter::next(const char* name) {
  if (!declaring_) return columns_[next_++];
  columns_.emplace_back().name = name;
  return columns_.back();
}

void ColumnWriter::add_number(const char* name, h5::Number type, std::string_view bytes) {
  auto& column = next(name);
  column.type = type;
  if (!declaring_) column.bytes += bytes;
}

void ColumnWriter::add_word(const char* name, std::string_view word) {
  auto& column = next(name);
  column.words = true;
  if (declaring_) return;
  column.bytes += word;
  column.lengths.push_back(static_cast<std::uint32_t>(word.size()));
  column.longest = std::max(column.longest, word.size());
}

void ColumnWriter::write_columns(const h5::File& file, const char* name) const {
  auto group = h5::create_group(file, name);
  for (const auto& column : columns_) {
    if (!column.words) {
      h5::write_numbers(group, column.name, column.type, rows_, column.bytes.data());
      continue;
    }
    std::string packed(rows_ * column.longest, '\0');
    std::size_t from = 0;
    for (std::uint64_t row = 0; row < rows_; ++row) {
      std::memcpy(packed.data() + row * column.longest, column.bytes.data() + from, column.lengths[row]);
      from += column.lengths[row];
    }
    h5::write_words(group, column.name, rows_, column.longest, packed.data());
  }
  group.close();
}

void ColumnReader::load_numbers(const char* name, h5::Number type) {
  auto& column = columns_.emplace_back();
  load([&](std::vector<bool>* lost) { column.numbers = h5::read_numbers(group_, name, type, rows_, lost); });
}

void ColumnReader::load_words(const char* name) {
  auto& column = columns_.emplace_back();
  load([&](std::vector<bool>* lost) { column.words = h5::read_words(group_, name, rows_, lost); });
}

template <class Read>
void ColumnReader::load(Read read) {
  if (!loses_rows_) return read(nullptr);
  try {
    read(&lost_);
  } catch (const Error&) {
    lost_.assign(rows_, true);  // not even its place or its length is known
  }
}

void ColumnReader::unknown_word(const char* name, std::string_view word) {
  throw Error(ErrorCode::corrupt, fmt::format("column '{}' holds an unknown word '{}'", name, word));
}

}  // namespace nkigrid::log
