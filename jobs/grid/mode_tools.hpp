#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/grid/folders.hpp"
#include "jobs/grid/pages.hpp"

namespace nkigrid::jobs {

class FlowMap;
class Problems;
struct YamlNode;
struct ModeKindRow;

/// How much a model is told of what is wrong with its kernel.
enum class Diagnostics {
  explained,  ///< with the rule that was broken, a way to mend it, and hints at what a wrong result looks like
  plain       ///< the compiler's and the verifier's own words and numbers
};

/// What a model may call.
enum class Tool : std::uint8_t { compile, verify, profile, read_docs };
std::string_view name_of(Tool tool);  ///< "compile_kernel"

/// modes.NAME.tools
struct ModeTools {
  Diagnostics diagnostics = Diagnostics::explained;
  std::vector<Tool> offer;       ///< in the order of the enum; of a kind that calls tools the paper's two, else none
  std::filesystem::path docs;    ///< the folder that read_docs shows; "": none
  std::vector<Page> pages = {};  ///< its files, sorted by name

  bool offers(Tool tool) const;
};

/// The paper's: compile_kernel and verify_kernel.
std::vector<Tool> usual_tools();

/// @param row of the mode's kind, which says whether it calls tools
ModeTools read_mode_tools(const YamlNode& node, const std::string& path, const ModeKindRow& row, const Folders& folders,
                          Problems& problems);
/// @param docs what stands for the folder
FlowMap mode_tools_map(const ModeTools& tools, const ModeKindRow& row, const std::string& docs);

}  // namespace nkigrid::jobs
