#include "runner/agent/fences.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "runner/model/python/scan.hpp"
#include "runner/model/python/shape.hpp"

namespace nkigrid::agent {
namespace {

constexpr std::size_t kNever = std::string_view::npos;

/// A line that opens or closes a fence.
struct FenceLine {
  std::size_t begin = 0, end = 0;  ///< of the line; `end` is after its newline
  std::size_t ticks = 0;
  std::string tag;
};

std::optional<FenceLine> as_fence_line(std::string_view text, std::size_t begin, std::size_t end) {
  std::string_view line = text.substr(begin, end - begin);
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(indent);
  const std::size_t ticks = std::min(line.find_first_not_of('`'), line.size());
  if (indent > 3 || ticks < 3) return std::nullopt;
  std::string_view rest = line.substr(ticks);
  if (rest.find('`') != kNever) return std::nullopt;  // back-ticks after the tag make it inline code
  while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front())) != 0) rest.remove_prefix(1);
  std::string tag(rest.substr(0, rest.find_first_of(" \t\r\n{")));
  std::transform(tag.begin(), tag.end(), tag.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return FenceLine{begin, end, ticks, std::move(tag)};
}

std::vector<FenceLine> fence_lines(std::string_view text) {
  std::vector<FenceLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == kNever ? text.size() : newline + 1;
    if (auto line = as_fence_line(text, begin, end)) lines.push_back(std::move(*line));
    begin = end;
  }
  return lines;
}

bool ends_in_string(std::string_view code) { return model::scan_python(code).unterminated; }

/// Reads the blocks of one text.
class Pairing {
 public:
  explicit Pairing(std::string_view text) : text_(text), lines_(fence_lines(text)) {}

  std::vector<Fence> fences() const {
    std::vector<Fence> fences;
    for (std::size_t open = 0; open < lines_.size();) {
      auto end = strict_end(open);
      Fence fence{lines_[open].tag, body(open, end.line), !end.opens_next && end.line != kNever};
      if (fence.closed && is_python_tag(fence.tag) && ends_in_string(fence.text)) grow(open, end, fence);
      fences.push_back(std::move(fence));
      if (end.line == kNever) break;
      open = end.opens_next ? end.line : end.line + 1;
    }
    return fences;
  }

 private:
  struct End {
    std::size_t line = kNever;  ///< index of the line that ends a block; kNever: the text does
    bool opens_next = false;
  };

  std::string body(std::size_t open, std::size_t end) const {
    const std::size_t begin = lines_[open].end;
    return std::string(text_.substr(begin, end == kNever ? kNever : lines_[end].begin - begin));
  }

  End strict_end(std::size_t open) const {
    for (std::size_t i = open + 1; i < lines_.size(); ++i) {
      if (lines_[i].ticks < lines_[open].ticks) continue;
      if (lines_[i].tag.empty()) return {i, false};
      // Only what stands in a string may open a fence inside of Python.
      if (is_python_tag(lines_[open].tag) && is_python_tag(lines_[i].tag) && !ends_in_string(body(open, i)))
        return {i, true};
    }
    return {};
  }

  /// The shortest growth that is well formed, when there is one.
  void grow(std::size_t open, End& end, Fence& fence) const {
    for (std::size_t i = end.line + 1; i < lines_.size(); ++i) {
      if (!lines_[i].tag.empty()) continue;
      std::string longer = body(open, i);
      if (!model::looks_like_python(longer)) continue;
      fence.text = std::move(longer);
      fence.grown = true;
      end = {i, false};
      return;
    }
  }

  std::string_view text_;
  std::vector<FenceLine> lines_;
};

}  // namespace

bool is_python_tag(std::string_view tag) {
  constexpr std::array<std::string_view, 5> kTags = {"", "python", "python3", "py", "nki"};
  return std::find(kTags.begin(), kTags.end(), tag) != kTags.end();
}

std::vector<Fence> fences_of(std::string_view text) { return Pairing(text).fences(); }

}  // namespace nkigrid::agent
