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
concept Numeric = std::same_as<T, std::int8_t> || std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t> ||
    std::same_as<T, double>;

/// Gathers rows into columns.
class ColumnWriter {
 public:
  template <class Row>
  void add(Row& row) {
    if (columns_.empty()) declare<Row>();
    next_ = 0;
    columns(row, *this);
    ++rows_;
  }
  std::uint64_t rows() const noexcept { return rows_; }
  static constexpr bool has(std::uint64_t) noexcept { return true; }  ///< the newest version is written

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
  void derived(const char* name, const EpisodeId& id) { column(name, id); }
  void derived(const char* name, std::uint32_t value) { column(name, value); }
  void text(const char* name, TextRef& ref) {
    column(declaring_ ? (std::string(name) + "_offset").c_str() : name, ref.offset);
    column(declaring_ ? (std::string(name) + "_length").c_str() : name, ref.length);
  }

  /// Writes all columns as datasets of a new group. @tparam Row what was added, if anything was
  template <class Row>
  void write(const h5::File& file, const char* group) {
    if (columns_.empty()) declare<Row>();
    write_columns(file, group);
  }

 private:
  struct Column {
    std::string name;
    bool words = false;
    h5::Number type = h5::Number::int8;
    std::string bytes;                   ///< numbers packed, or words end to end
    std::vector<std::uint32_t> lengths;  ///< of the words
    std::size_t longest = 1;
  };
  template <class Row>
  void declare() {
    declaring_ = true;
    Row any;
    columns(any, *this);
    declaring_ = false;
  }
  Column& next(const char* name);
  void add_number(const char* name, h5::Number type, std::string_view bytes);
  void add_word(const char* name, std::string_view word);
  void write_columns(const h5::File& file, const char* group) const;

  std::uint64_t rows_ = 0;
  std::vector<Column> columns_;
  bool declaring_ = false;
  std::size_t next_ = 0;
};

/// What a reader does about a column that is damaged: nothing but an error, or the loss of each row it has no value
/// for. A default in place of what was logged would be a result that nobody obtained.
enum class Damaged : std::uint8_t { refuse, lose_rows };

/// The columns of one group in memory. load() once by visiting any row, then fill() rows by visiting them.
class ColumnReader {
 public:
  /// @param version of the file's layout
  ColumnReader(const h5::Group& group, std::uint64_t version, std::uint64_t rows, bool with_texts,
               Damaged damaged = Damaged::refuse)
      : group_(group),
        version_(version),
        rows_(rows),
        with_texts_(with_texts),
        loses_rows_(damaged == Damaged::lose_rows),
        lost_(loses_rows_ ? rows : 0) {}

  std::uint64_t rows() const noexcept { return rows_; }
  bool has(std::uint64_t version) const noexcept { return version_ >= version; }
  bool is_lost(std::uint64_t row) const noexcept { return loses_rows_ && lost_[row]; }
  /// The next visit fills `row`. @pre a visit was made before, which loaded the columns
  void begin_row(std::uint64_t row) noexcept { loaded_ = true, row_ = row, next_ = 0; }

  template <Numeric T>
  void column(const char* name, T& value) {
    if (!loaded_) return load_numbers(name, number_of<T>());
    const auto& numbers = columns_[next_++].numbers;
    if (!numbers.empty()) value = get<T>(numbers, row_ * sizeof(T));
  }
  void column(const char* name, bool& value) {
    std::int8_t flag = value ? 1 : 0;
    column(name, flag);
    value = flag != 0;
  }
  void column(const char* name, std::string& value) {
    if (!loaded_) return load_words(name);
    value = word(columns_[next_++]);
  }
  void column(const char* name, EpisodeId& id) {
    if (!loaded_) return load_words(name);
    if (const auto text = word(columns_[next_++]); !text.empty()) id = parse_episode_id(text);
  }
  template <class E>
  requires std::is_enum_v<E>
  void column(const char* name, E& value) {
    if (!loaded_) return load_words(name);
    auto& column = columns_[next_++];
    if (!column.words.packed.empty()) value = parsed<E>(name, column);
  }
  template <class E>
  void word_if(const char* name, E& value, bool present) {
    if (loaded_ && !present)
      ++next_;
    else
      column(name, value);
  }
  template <class T>
  void derived(const char*, const T&) noexcept {}
  void text(const char* name, TextRef& ref) {
    if (!with_texts_) return;
    column(loaded_ ? name : (std::string(name) + "_offset").c_str(), ref.offset);
    column(loaded_ ? name : (std::string(name) + "_length").c_str(), ref.length);
  }

 private:
  struct Column {
    std::string numbers;
    h5::Words words;
    std::vector<std::pair<std::string, std::uint8_t>> known;  ///< enum words met so far: few in any column
  };
  void load_numbers(const char* name, h5::Number type);
  void load_words(const char* name);
  template <class Read>
  void load(Read read);
  std::string_view word(const Column& column) const noexcept {
    return column.words.packed.empty() ? std::string_view() : column.words.at(row_);
  }
  template <class E>
  E parsed(const char* name, Column& column) {
    static_assert(sizeof(E) == 1);
    const auto text = word(column);
    for (const auto& [word, value] : column.known) {
      if (word == text) return static_cast<E>(value);
    }
    const auto value = parse_word<E>(text);
    if (!value) unknown_word(name, text);
    column.known.emplace_back(text, static_cast<std::uint8_t>(*value));
    return *value;
  }
  [[noreturn]] static void unknown_word(const char* name, std::string_view word);

  const h5::Group& group_;
  std::uint64_t version_;
  std::uint64_t rows_;
  bool with_texts_;
  std::vector<Column> columns_;
  bool loses_rows_;
  std::vector<bool> lost_;  ///< by row; empty where damage is refused
  bool loaded_ = false;
  std::uint64_t row_ = 0;
  std::size_t next_ = 0;
};

}  // namespace nkigrid::log
