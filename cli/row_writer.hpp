#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nkigrid::cli {

enum class RowFormat : std::uint8_t { jsonl, csv };

/// Writes rows of one shape to stdout: JSON lines, or CSV (RFC 4180) with a head line. NaN and absent values
/// are null, or empty.
///
///   RowWriter rows(RowFormat::csv);
///   rows.text("episode", id).number("turns", 3).absent("outcome").end_row();
class RowWriter {
 public:
  explicit RowWriter(RowFormat format) : format_(format) {}

  RowWriter& text(const char* name, std::string_view value);
  RowWriter& number(const char* name, double value);
  RowWriter& count(const char* name, std::uint64_t value);
  RowWriter& flag(const char* name, int value);  ///< -1 (not done): absent
  RowWriter& absent(const char* name);
  /// @throws Error{io} when stdout cannot take it
  void end_row();
  /// Pushes all out; a closed pipe or a full disk must not pass for success. @throws Error{io}
  void close();

 private:
  void add(const char* name, std::string json, std::string csv);

  RowFormat format_;
  bool headed_ = false;
  std::vector<const char*> names_;
  std::string line_;
  std::size_t fields_ = 0;  ///< of the line so far
};

}  // namespace nkigrid::cli
