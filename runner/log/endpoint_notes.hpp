#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "jobs/base/ids.hpp"

namespace nkigrid::log {

/// What there is to say of an endpoint: it fails, or it takes fewer requests at once than the grid allows.
enum class EndpointNote { away, narrow };

/// Notes that the endpoint of a model fails, as the session on `shard` (none: all) sees it: RUN/log/endpoints/ (of
/// kind narrow: RUN/log/narrowed/) holds a file a session and model until it works again ("" clears). A session that
/// dies leaves its notes: they mean something only while somebody works on the run. A note that cannot be written is
/// not told.
void note_endpoint(const std::filesystem::path& log_folder, std::optional<ShardId> shard, const std::string& model,
                   const std::string& text, EndpointNote kind = EndpointNote::away) noexcept;

/// Model -> what some session says of its endpoint. Empty when there is none.
std::map<std::string, std::string> read_endpoint_notes(const std::filesystem::path& log_folder,
                                                       EndpointNote kind = EndpointNote::away);

}  // namespace nkigrid::log
