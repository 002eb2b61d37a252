#pragma once

#include "jobs/grid/grid.hpp"
#include "runner/model/wire/wire.hpp"

namespace nkigrid::model {

/// Signs with a bearer key, as many providers want it.
void bearer_sign(HttpRequest& request, const jobs::ModelSpec& model, const ApiKey& key, double now);

}  // namespace nkigrid::model
