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
/// Fences that one string may hold; each is tried, so that a long reply of nothing but fences would take long.
constexpr std::size_t kMostInner = 64;
/// Bytes that the trials of one reply may read in all: a model's kernel has tens of thousands, and a reply of megabytes
/// that opens strings in each of its fences would be read thousands of times over.
constexpr std::size_t kMostTried = std::size_t{16} << 20;

/// A line that opens or closes a fence.
struct FenceLine {
  std::size_t begin = 0, end = 0;  ///< of the line; `end` is after its newline
  std::size_t indent = 0;          ///< bytes before the marks: spaces, marks of quotations and lists
  char mark = '`';
  std::size_t marks = 0;
  bool spaced = false;        ///< a space stands between the marks and the tag
  bool behind_words = false;  ///< it ends a line of words, "The kernel: ```python": it opens a block and closes none
  std::string tag;
};

/// Bytes of a line that belong to the quotation or list around a fence.
std::size_t indent_of(std::string_view line) {
  std::size_t at = std::min(line.find_first_not_of(" \t>"), line.size());
  std::size_t marker = at;  // "-", "*", "+", "1.", "1)"
  while (marker < line.size() && std::isdigit(static_cast<unsigned char>(line[marker])) != 0) ++marker;
  const std::string_view legal = marker == at ? "-*+" : ".)";
  const bool is_item = marker + 1 < line.size() && legal.find(line[marker]) != kNever && line[marker + 1] == ' ';
  if (is_item) at = std::min(line.find_first_not_of(' ', marker + 1), line.size());
  return at;
}

/// The first word of an info string, without what is appended to a language's name: "python:kernel.py", "python{1,2}".
/// Whole where it ends in the name of a Python file: "12:40:kernels/add.py".
std::string tag_of(std::string_view info) {
  info.remove_prefix(std::min(info.find_first_not_of(" \t"), info.size()));
  const auto word = info.substr(0, info.find_first_of(" \t\r\n"));
  std::string tag(word.ends_with(".py") ? word : word.substr(0, word.find_first_of("{:,")));
  std::transform(tag.begin(), tag.end(), tag.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return tag;
}

/// Back-ticks with a tag of Python behind the words of a line.
std::optional<FenceLine> as_late_fence_line(std::string_view line, std::size_t begin, std::size_t end) {
  line = line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
  const std::size_t marks = line.find("```");
  if (marks == kNever || marks == 0 || line.find('`') != marks) return std::nullopt;
  const auto info = line.substr(marks + 3);
  FenceLine fence{.begin = begin, .end = end, .marks = 3, .behind_words = true, .tag = tag_of(info)};
  const bool tagged = !info.empty() && info.find_first_of(" \t`") == kNever && is_python_tag(fence.tag);
  return tagged ? std::optional(std::move(fence)) : std::nullopt;
}

std::optional<FenceLine> as_fence_line(std::string_view text, std::size_t begin, std::size_t end) {
  std::string_view line = text.substr(begin, end - begin);
  FenceLine fence{.begin = begin, .end = end, .indent = indent_of(line)};
  line.remove_prefix(fence.indent);
  if (line.empty() || (line.front() != '`' && line.front() != '~')) return as_late_fence_line(line, begin, end);
  fence.mark = line.front();
  fence.marks = std::min(line.find_first_not_of(fence.mark), line.size());
  const std::string_view info = line.substr(fence.marks);
  // Back-ticks after the tag make it inline code.
  if (fence.marks < 3 || (fence.mark == '`' && info.find('`') != kNever)) return std::nullopt;
  fence.spaced = info.starts_with(' ');
  fence.tag = tag_of(info);
  return fence;
}

/// Without the indent that the block's first line has, where a line has it.
std::string dedented(std::string_view text, std::size_t indent) {
  if (indent == 0) return std::string(text);
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    std::string_view line = text.substr(begin, end - begin);
    line.remove_prefix(std::min({line.find_first_not_of(" \t>"), indent, line.size()}));
    result += line;
    begin = end;
  }
  return result;
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

  std::vector<Fence> fences() {
    std::vector<Fence> fences;
    for (std::size_t open = 0; open < lines_.size();) {
      auto end = strict_end(open);
      Fence fence{lines_[open].tag, body(open, end.line), !end.opens_next && end.line != kNever};
      if (!fence.closed && is_python_tag(fence.tag)) {
        const auto late = late_end(open, end.line, fence);
        if (late != kNever) end = {late, false};
      }
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
    return dedented(text_.substr(begin, end == kNever ? kNever : lines_[end].begin - begin), lines_[open].indent);
  }

  /// Marks of the same kind, no fewer, and no deeper than a list or quotation puts them: those of a docstring are.
  bool may_end(std::size_t open, std::size_t i) const {
    const FenceLine &first = lines_[open], &line = lines_[i];
    return line.mark == first.mark && line.marks >= first.marks && line.indent <= first.indent + 3 &&
           !line.behind_words;
  }

  /// Whether one more trial may read these lines; it is counted.
  bool may_try(std::size_t open, std::size_t end) {
    tried_ += lines_[end].begin - lines_[open].end;
    return tried_ <= kMostTried;
  }

  End strict_end(std::size_t open) {
    std::size_t in_strings = 0, late = 0;
    for (std::size_t i = open + 1; i < lines_.size(); ++i) {
      if (lines_[i].behind_words && ++late > kMostInner) return {i, true};
      if (!may_end(open, i)) continue;
      if (lines_[i].tag.empty()) return {i, false};
      // Only what stands in a string may open a fence inside of Python. Words behind the marks, "``` That is it", are
      // no tag.
      const bool python = is_python_tag(lines_[i].tag), within_python = !lines_[open].tag.empty() || python;
      if (is_python_tag(lines_[open].tag) && within_python &&
          (in_strings >= kMostInner || !may_try(open, i) || !ends_in_string(body(open, i))))
        return {i, python || !lines_[i].spaced};
      ++in_strings;
    }
    return {};
  }

  /// Ends a block that nothing closes as it should at marks that are no Python: behind the last of its lines
  /// ("return out```"), or in a line of their own, fewer or of the other kind than those that opened it.
  /// @param before the line that opens the next block; kNever: none does
  /// @returns the line that ends it, or the first one behind it, less one; kNever: there are none
  std::size_t late_end(std::size_t open, std::size_t before, Fence& fence) {
    const std::size_t begin = lines_[open].end, end = before == kNever ? text_.size() : lines_[before].begin;
    for (auto at = next_marks(begin, end); at != kNever; at = next_marks(at + 1, end)) {
      tried_ += at - begin;
      if (tried_ > kMostTried) return kNever;
      const auto code = text_.substr(begin, at - begin);
      const auto last = code.substr(code.rfind('\n') + 1);
      if (ends_in_string(code) || last.find('#') != kNever) continue;
      fence.text = dedented(code, lines_[open].indent);
      if (last.find_first_not_of(" \t") == kNever) {
        fence.text.resize(fence.text.find_last_of('\n') + 1);
      } else {
        fence.text += '\n';
      }
      fence.closed = true;
      std::size_t next = open + 1;
      while (next < lines_.size() && lines_[next].begin <= at) ++next;
      return next - 1;
    }
    return kNever;
  }

  /// Three marks or more that end a line, before `end`.
  std::size_t next_marks(std::size_t from, std::size_t end) const {
    const auto text = text_.substr(0, end);
    for (auto at = text.find_first_of("`~", from); at != kNever; at = text.find_first_of("`~", at)) {
      const auto behind = std::min(text.find_first_not_of(text[at], at), text.size());
      const auto rest = std::min(text.find_first_not_of(" \t\r", behind), text.size());
      if (behind - at >= 3 && (rest == text.size() || text[rest] == '\n')) return at;
      at = behind;
    }
    return kNever;
  }

  /// The shortest growth that is well formed, when there is one.
  void grow(std::size_t open, End& end, Fence& fence) {
    for (std::size_t i = end.line + 1; i < std::min(lines_.size(), end.line + kMostInner); ++i) {
      if (!lines_[i].tag.empty() || lines_[i].mark != lines_[open].mark) continue;
      if (!may_try(open, i)) return;
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
  std::size_t tried_ = 0;  ///< bytes
};

}  // namespace

bool is_python_tag(std::string_view tag) {
  constexpr std::array<std::string_view, 11> kTags = {"",     "python", "python3", "py",    "py3",      "nki",
                                                      "code", "text",   "txt",     "plain", "plaintext"};
  if (tag.ends_with(".py")) return true;
  for (;;) {  // "nki-python", "python="
    const auto end = std::min(tag.find_first_of("-_=+./"), tag.size());
    if (std::find(kTags.begin(), kTags.end(), tag.substr(0, end)) != kTags.end()) return true;
    if (end == tag.size()) return false;
    tag.remove_prefix(end + 1);
    if (tag.empty()) return false;
  }
}

std::vector<Fence> fences_of(std::string_view text) { return Pairing(text).fences(); }

}  // namespace nkigrid::agent
