#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "runner/model/chat.hpp"

namespace nkigrid::model {

/// Tool calls as they stay in a reply's text when a server's parser did not take them out.
struct TextCalls {
  std::string_view form;        ///< of which chat template, for the log
  std::size_t begin = 0;        ///< where the first of them stands
  std::size_t end = 0;          ///< behind the last of them
  std::vector<ToolCall> calls;  ///< without ids
};

/// The tool of that name; null when there is none.
inline const ToolSpec* find_tool(const std::vector<ToolSpec>& tools, std::string_view name) {
  const auto tool = std::find_if(tools.begin(), tools.end(), [&](const ToolSpec& spec) { return spec.name == name; });
  return tool == tools.end() ? nullptr : &*tool;
}

}  // namespace nkigrid::model
