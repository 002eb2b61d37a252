#include "runner/agent/extract.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "runner/model/python/shape.hpp"

namespace nkigrid::agent {
namespace {

/// A line that opens or closes a fence.
struct FenceLine {
  std::size_t begin = 0, end = 0;  ///< of the line; `end` is after its newline
  std::size_t ticks = 0;
  std::string tag;  ///< first word of what follows, lower case
};

/// A fence by strict pairing: the next line of at least as many back-ticks, and nothing else, closes it.
struct Block {
  std::size_t open = 0;                   ///< index of its first line
  std::size_t close = std::string::npos;  ///< index of its last line; npos: never closed
};

std::vector<FenceLine> fence_lines(std::string_view text) {
  std::vector<FenceLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == std::string_view::npos ? text.size() : newline + 1;
    std::string_view line = text.substr(begin, end - begin);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(indent);
    const std::size_t ticks = std::min(line.find_first_not_of('`'), line.size());
    if (indent <= 3 && ticks >= 3) {
      std::string_view rest = line.substr(ticks);
      while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front())) != 0) rest.remove_prefix(1);
      std::string tag(rest.substr(0, rest.find_first_of(" \t\r\n{")));
      std::transform(tag.begin(), tag.end(), tag.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      // Back-ticks after the tag make it inline code, no fence.
      if (rest.find('`') == std::string_view::npos) lines.push_back({begin, end, ticks, std::move(tag)});
    }
    begin = end;
  }
  return lines;
}

std::vector<Block> pair_strictly(const std::vector<FenceLine>& lines) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Block block{i};
    for (std::size_t j = i + 1; j < lines.size() && block.close == std::string::npos; ++j) {
      if (lines[j].tag.empty() && lines[j].ticks >= lines[i].ticks) block.close = j;
    }
    blocks.push_back(block);
    if (block.close == std::string::npos) break;
    i = block.close;
  }
  return blocks;
}

bool is_code_tag(const std::string& tag) { return tag.empty() || tag == "python" || tag == "py" || tag == "nki"; }

std::string body(std::string_view text, std::size_t begin, std::size_t end) {
  return std::string(text.substr(begin, end - begin));
}

/// The block's own text, or the shortest growth over later fence lines that is well formed.
std::optional<Extracted> read_block(std::string_view text, const std::vector<FenceLine>& lines, const Block& block,
                                    bool truncated) {
  const std::size_t begin = lines[block.open].end;
  if (block.close == std::string::npos) {
    std::string code = body(text, begin, text.size());
    if (truncated || !model::looks_like_python(code)) return std::nullopt;
    return Extracted{std::move(code), "unclosed_fence"};
  }
  for (std::size_t i = block.close; i < lines.size(); ++i) {
    if (!lines[i].tag.empty()) continue;
    std::string code = body(text, begin, lines[i].begin);
    if (model::looks_like_python(code))
      return Extracted{std::move(code), i == block.close ? "last_fence" : "last_fence_extended"};
  }
  return std::nullopt;
}

}  // namespace

std::string without_thinking(std::string_view reply) {
  std::string text(reply);
  for (const std::string_view name : {"think", "thinking"}) {
    const std::string open = "<" + std::string(name) + ">", close = "</" + std::string(name) + ">";
    for (;;) {
      const std::size_t begin = text.find(open);
      const std::size_t end = text.find(close);
      if (begin == std::string::npos && end == std::string::npos) break;
      if (begin != std::string::npos && (end == std::string::npos || end < begin)) {
        // An opening tag that is never closed after it.
        const std::size_t later = end == std::string::npos ? end : text.find(close, begin);
        text.erase(begin, later == std::string::npos ? later : later + close.size() - begin);
      } else {
        text.erase(begin == std::string::npos ? 0 : begin,
                   end + close.size() - (begin == std::string::npos ? 0 : begin));
      }
    }
  }
  return text;
}

std::optional<Extracted> extract_code(std::string_view reply, bool truncated) {
  const std::string text = without_thinking(reply);
  const std::vector<FenceLine> lines = fence_lines(text);
  const std::vector<Block> blocks = pair_strictly(lines);
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    if (!is_code_tag(lines[block->open].tag)) continue;
    if (auto code = read_block(text, lines, *block, truncated)) return code;
  }
  return std::nullopt;
}

}  // namespace nkigrid::agent
