#pragma once

#include <filesystem>
#include <string>

namespace nkigrid::model {

/// Where this process finds the servers that are kept for its models.
struct ServerPlaces {
  std::filesystem::path log_folder;
  std::string owner;  ///< log::ServerName::owner
};

}  // namespace nkigrid::model
