#pragma once

#include <vector>

#include "runner/log/left_out.hpp"
#include "runner/log/salvage.hpp"

namespace nkigrid::log {

/// Every file of the log's folder that does not count, of the journals that can be read. @throws Error{io}
std::vector<LeftOut> find_left_out(const RunLog& log);

/// Does about them what salvage() says of them, as far as they can be read. @param done is told @throws Error{io}
void put_right(const RunLog& log, std::vector<Salvaged>& done);

}  // namespace nkigrid::log
