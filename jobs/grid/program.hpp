#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nkigrid::jobs {

struct Folders;
class Problems;
struct YamlNode;

/// The words of a program of the site's. A word that begins with ./ or ../ is a file beside the grid, which must exist,
/// and is made absolute: the program starts in a folder of its own. The first word is that, an absolute path, or a name
/// that is looked up on PATH where the program runs; all other words stay as they are.
/// @param what names the key in messages @param example of right words, for the message
std::vector<std::string> read_program(const YamlNode& node, std::string_view what, std::string_view example,
                                      const Folders& folders, Problems& problems);

}  // namespace nkigrid::jobs
