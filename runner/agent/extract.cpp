#include "runner/agent/extract.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "runner/agent/code_kind.hpp"
#include "runner/agent/fences.hpp"
#include "runner/model/python/shape.hpp"
#include "runner/model/recovery/thinking.hpp"

namespace nkigrid::agent {
namespace {

std::string_view how_found(const Fence& fence) {
  if (!fence.closed) return "unclosed_fence";
  return fence.grown ? "last_fence_extended" : "last_fence";
}

/// The blocks of a reply, also of one that stands as a whole in a block of Markdown.
std::vector<Fence> blocks_of(std::string_view text) {
  std::vector<Fence> fences;
  for (Fence& fence : fences_of(text)) {
    const bool markdown = fence.tag == "md" || fence.tag == "markdown";
    auto inner = markdown ? fences_of(fence.text) : std::vector<Fence>();
    std::move(inner.begin(), inner.end(), std::back_inserter(fences));
    if (!markdown) fences.push_back(std::move(fence));
  }
  return fences;
}

/// What is done with a file, or to one: commands that write it, changes, output.
constexpr std::array<std::string_view, 12> kOtherTags = {"bash", "sh",    "shell", "zsh",  "console", "terminal",
                                                         "diff", "patch", "json",  "pytb", "output",  "log"};

/// Whether a block may hold code at all: what its tag says, or a whole kernel under one that nobody has heard of.
bool may_hold_code(const Fence& fence, CodeKind kind) {
  if (is_python_tag(fence.tag)) return true;
  const bool other = std::find(kOtherTags.begin(), kOtherTags.end(), fence.tag) != kOtherTags.end();
  return !other && kind == CodeKind::kernel && model::looks_like_python(fence.text);
}

}  // namespace

std::optional<Extracted> extract_code(std::string_view reply, bool truncated) {
  std::vector<Fence> fences = blocks_of(model::without_thinking(reply));
  if (truncated && !fences.empty() && !fences.back().closed) fences.pop_back();
  Fence* chosen = nullptr;
  CodeKind best = CodeKind::other;
  for (Fence& fence : fences) {
    const CodeKind kind = kind_of(fence.text);
    if (kind == CodeKind::other || kind < best || !may_hold_code(fence, kind)) continue;
    chosen = &fence;
    best = kind;
  }
  if (chosen == nullptr) return std::nullopt;
  return Extracted{std::move(chosen->text), how_found(*chosen)};
}

}  // namespace nkigrid::agent
