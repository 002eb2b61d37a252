#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "runner/log/hdf5.hpp"
#include "runner/log/rows.hpp"

namespace nkigrid::log {

/// Writes /text: texts end to end, equal ones once. Memory holds a hash a text, not the texts.
class TextHeap {
 public:
  explicit TextHeap(const h5::File& file) : dataset_(h5::create_bytes(file, "text")) {}

  TextRef add(std::string_view text);
  std::uint64_t bytes() const noexcept { return written_ + buffer_.size(); }
  /// Writes what is buffered and closes the dataset.
  void close();

 private:
  void flush();

  h5::Dataset dataset_;
  std::string buffer_;
  std::uint64_t written_ = 0;
  std::map<std::array<std::uint8_t, 32>, TextRef> known_;
};

}  // namespace nkigrid::log
