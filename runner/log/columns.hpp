#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "jobs/base/ids.hpp"
#include "runner/log/bytes.hpp"
#include "runner/log/hdf5.hpp"
#include "runner/log/rows.hpp"
#include "runner/log/words.hpp"

/// Visitors over the column lists of rows.hpp: rows to datasets and back.
namespace nkigrid::log {

template <class T>
constexpr h5::Number number_of() {
  if constexpr (std::is_same_v<T, std::int8_t>)
    return h5::Number::int8;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return h5::Number::uint32;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return h5::Number::uint64;
  else
    return h5::Number::float64;
}
template <class T>
concept Numeric = std::same_as<T, std::int8_t> || std::same_as<T, std::uint32_t> ||
    std::same_as<T, std::uint64_t> || std::same_as<T, double>;

/// Gathers rows into columns: visit one default row to declare them, then every row.
class ColumnWriter {
 public:
  explicit ColumnWriter(std::uint64_t rows) : rows_(rows) {}
  void begin_row() noexcept { declared_ = !columns_.empty(), next_ = 0; }

  template <Numeric T>
  void column(const char* name, T& value) {
    add_number(name, number_of<T>(), std::string_view(reinterpret_cast<const char*>(&value), sizeof(T)));
  }
  void column(const char* name, bool value) {
    auto flag = static_cast<std::int8_t>(value);
    column(name, flag);
  }
  void column(const char* name, const std::string& value) { add_word(name, value); }
  void column(const char* name, const EpisodeId& id) { add_word(name, to_string(id)); }
  template <class E>
  requires std::is_enum_v<E>
  void column(const char* name, E value) { add_word(name, to_string(value)); }
  template <class E>
  void word_if(const char* name, E value, bool present) {
    add_word(name, present ? to_string(value) : std::string_view());
  }
  void derived(const char* name, std::string_view word) { add_word(name, word); }
  void derived(const char* name, std::uint32_t value) { column(name, value); }
  void text(const char* name, TextRef& ref) {
    column((std::string(name) + "_offset").c_str(), ref.offset);
    column((std::string(name) + "_length").c_str(), ref.length);
  }

  /// Writes all columns as datasets of `group`.
  void write(const h5::Group& group) const;

 private:
  struct Column {
    std::string name;
    bool words = false;
    h5::Number type = h5::Number::int8;
    std::string bytes;                   ///< numbers packed, or words end to end
    std::vector<std::uint32_t> lengths;  ///< of the words
    std::size_t longest = 1;
  };
  Column& next(const char* name);
  void add_number(const char* name, h5::Number type, std::string_view bytes);
  void add_word(const char* name, std::string_view word);

  std::uint64_t rows_;
  std::vector<Column> columns_;
  bool declared_ = false;
  std::size_t next_ = 0;
};

/// The columns of one group in memory. load() once by visiting any row, then fill() rows by visiting them.
class ColumnReader {
 public:
  ColumnReader(const h5::Group& group, std::uint64_t rows, bool with_texts)
      : group_(group), rows_(rows), with_texts_(with_texts) {}

  std::uint64_t rows() const noexcept { return rows_; }
  /// The next visit fills `row`. @pre a visit was made before, which loaded the columns
  void begin_row(std::uint64_t row) noexcept { loaded_ = true, row_ = row, next_ = 0; }

  template <Numeric T>
  void column(const char* name, T& value) {
    if (!loaded_)
      load_numbers(name, number_of<T>());
    else
      value = number<T>();
  }
  void column(const char* name, bool& value) {
    std::int8_t flag = 0;
    column(name, flag);
    value = flag != 0;
  }
  void column(const char* name, std::string& value) {
    if (!loaded_)
      load_words(name);
    else
      value = word();
  }
  void column(const char* name, EpisodeId& id) {
    if (!loaded_)
      load_words(name);
    else
      id = parse_episode_id(word());
  }
  template <class E>
  requires std::is_enum_v<E>
  void column(const char* name, E& value) {
    if (!loaded_) return load_words(name);
    const auto text = word();
    const auto parsed = parse_word<E>(text);
    if (parsed)
      value = *parsed;
    else
      unknown_word(name, text);
  }
  template <class E>
  void word_if(const char* name, E& value, bool present) {
    if (loaded_ && !present)
      ++next_;
    else
      column(name, value);
  }
  void derived(const char*, std::string_view) noexcept {}
  void derived(const char*, std::uint32_t) noexcept {}
  void text(const char* name, TextRef& ref) {
    if (!with_texts_) return;
    column((std::string(name) + "_offset").c_str(), ref.offset);
    column((std::string(name) + "_length").c_str(), ref.length);
  }

 private:
  struct Column {
    std::string numbers;
    h5::Words words;
  };
  void load_numbers(const char* name, h5::Number type) {
    columns_.push_back({h5::read_numbers(group_, name, type, rows_), {}});
  }
  void load_words(const char* name) { columns_.push_back({{}, h5::read_words(group_, name, rows_)}); }
  std::string_view word() noexcept { return columns_[next_++].words.at(row_); }
  template <class T>
  T number() noexcept {
    return get<T>(columns_[next_++].numbers, row_ * sizeof(T));
  }
  [[noreturn]] static void unknown_word(const char* name, std::string_view word);

  const h5::Group& group_;
  std::uint64_t rows_;
  bool with_texts_;
  std::vector<Column> columns_;
  bool loaded_ = false;
  std::uint64_t row_ = 0;
  std::size_t next_ = 0;
};

}  // namespace nkigrid::log
