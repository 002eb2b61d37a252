#include "runner/model/synthetic/edits.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "runner/model/python/scan.hpp"

namespace nkigrid::model {
namespace {

/// The end of an argument that starts at `at`: the comma or bracket that follows it.
std::size_t argument_end(const Editable& edit, std::size_t at, std::size_t close) {
  for (std::size_t i = at; i < close; ++i) {
    if (edit.scan.parts[i] != PythonPart::code) continue;
    const char c = edit.source[i];
    if (c == '(' || c == '[' || c == '{') {
      i = closing_bracket(edit.source, edit.scan, i).value_or(close);
    } else if (c == ',') {
      return i;
    }
  }
  return close;
}

}  // namespace

std::vector<std::size_t> Editable::places(std::string_view needle) const {
  std::vector<std::size_t> result;
  for (std::size_t at = find_code(source, scan, needle); at != std::string_view::npos;
       at = find_code(source, scan, needle, at + 1)) {
    const std::size_t end = at + needle.size();
    const bool ends_word = !is_word(needle.back()) || end >= source.size() || !is_word(source[end]);
    if (ends_word) result.push_back(at);
  }
  return result;
}

std::string Editable::replaced(std::size_t at, std::size_t length, std::string_view text) const {
  std::string result(source.substr(0, at));
  result += text;
  result += source.substr(at + length);
  return result;
}

std::optional<Editable::Brackets> Editable::brackets(std::size_t at) const {
  const std::size_t open = source.find('(', at);
  if (open == std::string_view::npos) return std::nullopt;
  const auto close = closing_bracket(source, scan, open);
  if (!close) return std::nullopt;
  return Brackets{open, *close};
}

std::size_t Editable::line_start(std::size_t at) const {
  const std::size_t newline = source.rfind('\n', at == 0 ? 0 : at - 1);
  return newline == std::string_view::npos || at == 0 ? 0 : newline + 1;
}

std::optional<std::string> swap_one(std::string_view source, std::span<const Swap> swaps, std::uint64_t pick) {
  const Editable edit(source);
  std::vector<std::pair<std::size_t, Swap>> found;
  for (const Swap& swap : swaps) {
    for (const std::size_t at : edit.places(swap.from)) found.emplace_back(at, swap);
  }
  if (found.empty()) return std::nullopt;
  const auto& [at, swap] = found[pick % found.size()];
  return edit.replaced(at, swap.from.size(), swap.to);
}

std::optional<std::string> swap_all(std::string_view source, Swap swap) {
  const Editable edit(source);
  const auto places = edit.places(swap.from);
  if (places.empty()) return std::nullopt;
  std::string result;
  std::size_t done = 0;
  for (const std::size_t at : places) {
    result += source.substr(done, at - done);
    result += swap.to;
    done = at + swap.from.size();
  }
  result += source.substr(done);
  return result;
}

std::optional<std::string> drop_argument(std::string_view source, std::span<const std::string_view> calls,
                                         std::string_view keyword, std::uint64_t pick) {
  const Editable edit(source);
  const std::string needle = fmt::format("{}=", keyword);
  std::vector<std::pair<std::size_t, std::size_t>> found;  // begin (the comma) and end of the argument
  for (const std::string_view call : calls) {
    for (const std::size_t at : edit.places(call)) {
      const auto brackets = edit.brackets(at);
      if (!brackets) continue;
      const std::size_t argument = find_code(source, edit.scan, needle, brackets->open);
      if (argument >= brackets->close) continue;
      const std::size_t comma = source.rfind(',', argument);
      if (comma == std::string_view::npos || comma < brackets->open) continue;
      found.emplace_back(comma, argument_end(edit, argument, brackets->close));
    }
  }
  if (found.empty()) return std::nullopt;
  const auto [begin, end] = found[pick % found.size()];
  return edit.replaced(begin, end - begin, "");
}

}  // namespace nkigrid::model
