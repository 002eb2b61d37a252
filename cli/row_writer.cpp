#include "cli/row_writer.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "jobs/base/csv.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::cli {
namespace {

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw_errno(errno, "write to stdout");
}

}  // namespace

RowWriter& RowWriter::text(const char* name, std::string_view value) {
  if (format_ == RowFormat::csv)
    add(name, {}, csv_field(value));
  else
    add(name, nlohmann::json(to_valid_utf8(value)).dump(), {});
  return *this;
}
RowWriter& RowWriter::number(const char* name, double value) {
  if (!std::isfinite(value)) return absent(name);
  const auto text = fmt::format("{}", value);
  add(name, text, text);
  return *this;
}
RowWriter& RowWriter::count(const char* name, std::uint64_t value) {
  const auto text = fmt::format("{}", value);
  add(name, text, text);
  return *this;
}
RowWriter& RowWriter::flag(const char* name, int value) {
  if (value < 0) return absent(name);
  return count(name, static_cast<std::uint64_t>(value));
}
RowWriter& RowWriter::absent(const char* name) {
  add(name, "null", "");
  return *this;
}

void RowWriter::add(const char* name, std::string json, std::string csv) {
  if (!headed_) names_.push_back(name);
  if (format_ == RowFormat::csv) {
    if (fields_ > 0) line_ += ',';
    line_ += csv;
  } else {
    line_ += fmt::format("{}\"{}\":{}", fields_ == 0 ? "{" : ",", name, json);
  }
  ++fields_;
}

void RowWriter::end_row() {
  if (format_ == RowFormat::csv && !headed_) {
    std::string head;
    for (const auto* name : names_) head += (head.empty() ? "" : ",") + std::string(name);
    print(head + "\n");
  }
  headed_ = true;
  print(line_ + (format_ == RowFormat::csv ? "\n" : "}\n"));
  line_.clear();
  fields_ = 0;
}

void RowWriter::close() {
  if (std::fflush(stdout) != 0) throw_errno(errno, "write to stdout");
}

}  // namespace nkigrid::cli
