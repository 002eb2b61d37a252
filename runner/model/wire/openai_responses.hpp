#pragma once

#include "runner/model/wire/wire.hpp"

namespace nkigrid::model {

/// OpenAI's newer interface, POST /responses, which some models have alone. Nothing is kept at the server: the whole
/// conversation goes with each request, and thoughts come and go encrypted.
/// @source platform.openai.com/docs/api-reference/responses
Wire responses_wire();

}  // namespace nkigrid::model
