#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace nkigrid::model {

/// The whole message, as one that was not streamed would be (a grid may ask for a stream by `body: {stream: true}`,
/// which keeps long replies from standing still). @throws Error{corrupt} when it is cut: no message_stop
nlohmann::json joined_events(std::string_view body);

}  // namespace nkigrid::model
