#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "jobs/grid/key_field.hpp"

namespace nkigrid::jobs {

class Fields;
class FlowMap;
struct Folders;

/// What a backend derives from that the grid says nothing of but its name.
struct NoKeys {
  static constexpr std::array<std::string_view, 0> kKeys{};
};
inline void read_own(Fields&, const Folders&, NoKeys&) {}
inline void write_own(const NoKeys&, FlowMap&) {}
inline std::vector<KeyField> own_key_fields(const NoKeys&) { return {}; }

}  // namespace nkigrid::jobs
