#pragma once

#include <string>

#include "jobs/grid/grid.hpp"

namespace nkigrid::model {

/// What servers of one api want in different ways. A client learns it from refusals and keeps it.
struct Dialect {
  bool max_completion_tokens = false;  ///< the newer name of the limit of a reply
  bool empty_content = false;          ///< "" for a message without text, where others take null
  // Parameters that a model refuses, whatever their value: its requests go without, and its turns say so.
  bool no_temperature = false, no_top_p = false, no_seed = false;
  bool operator==(const Dialect&) const = default;
};

/// Both: what has been learnt is never unlearnt.
Dialect merged(const Dialect& a, const Dialect& b);

/// The parameters that the grid states and a request in this dialect leaves out: "temperature,top_p", or "".
std::string left_out(const Dialect& dialect, const jobs::ModelSpec& model);

/// What a refusal says of the server's dialect; Dialect{} when it says something else.
/// @param words the server's
Dialect wanted_dialect(long status, const std::string& words);

}  // namespace nkigrid::model
