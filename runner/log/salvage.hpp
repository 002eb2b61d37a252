#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nkigrid::log {

/// What salvage() did with one file that could not be read.
struct Salvaged {
  std::filesystem::path file;
  std::string what;   ///< why it could not be read, and what was saved
  bool lost = false;  ///< not everything it held could be saved
};

/// Saves what is whole of each file of the folder that cannot be read, and sets the file aside: a segment's rows go
/// into a new one of the same name, or come anew from its journal; what is neither journal nor segment is moved. Files
/// of another version are not touched.
/// @throws Error{io}
std::vector<Salvaged> salvage(const std::filesystem::path& folder);

}  // namespace nkigrid::log
