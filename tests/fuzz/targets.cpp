#include "tests/fuzz/targets.hpp"

#include "tests/fuzz/target_list.hpp"

namespace nkigrid::fuzz {

const std::map<std::string, void (*)(std::string_view)>& targets() {
  static const std::map<std::string, void (*)(std::string_view)> all = {
      {"grid", grid},     {"journal", journal}, {"segment", segment},       {"program", program}, {"reply", reply},
      {"stream", stream}, {"frames", frames},   {"extraction", extraction}, {"slurm", slurm_text}};
  return all;
}

}  // namespace nkigrid::fuzz
