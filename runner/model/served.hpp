#pragma once

#include <string>

#include "jobs/base/clock.hpp"
#include "jobs/grid/grid.hpp"

/// What `doctor` asks a model's server before a grid relies on it.
namespace nkigrid::model {

/// Asks the server for its list of models, which costs nothing. @returns a line of what was found
/// @throws Error{external} when it does not answer, refuses the key, or does not serve the model; Error{config} as
/// read_key()
/// @pre the model has an endpoint
std::string look_at_served(const jobs::ModelSpec& spec, Seconds timeout);

/// Asks the model for a word, with the grid's parameters: what a grid would meet at its first request. It may cost the
/// few tokens that every provider allows at least.
/// @returns a line of what was found, and what the server wants otherwise: another name of max_tokens, no temperature
/// @throws Error{external}, Error{config}
std::string ask_for_a_word(jobs::ModelSpec spec, Seconds timeout);

}  // namespace nkigrid::model
