#include "runner/device/backends.hpp"

#include <utility>
#include <variant>

// A backend is a line here. Its header declares, for its own struct in jobs::BackendSpec,
//   make_backend(spec, setup, servers)                      required: without it this file does not compile
//   start_backend_servers(spec, check, paths, lanes)        where processes must be there before anything else
//   describe_parts(spec, setup)                             where the machine must bring something
#include "runner/device/command/backend.hpp"
#include "runner/device/neuron/backend.hpp"
#include "runner/device/sim/backend.hpp"

namespace nkigrid::device {

std::shared_ptr<BackendServers> start_servers(const jobs::BackendSpec& spec, const jobs::CheckSpec& check,
                                              const DevicePaths& paths, std::uint32_t lanes) {
  return std::visit(
      [&](const auto& own) -> std::shared_ptr<BackendServers> {
        if constexpr (requires { start_backend_servers(own, check, paths, lanes); })
          return start_backend_servers(own, check, paths, lanes);
        return nullptr;
      },
      spec);
}

std::unique_ptr<Backend> build_backend(const jobs::BackendSpec& spec, const BackendSetup& setup,
                                       std::shared_ptr<BackendServers> servers) {
  return std::visit([&](const auto& own) { return make_backend(own, setup, std::move(servers)); }, spec);
}

std::vector<MachineParts> machine_parts(const jobs::DeviceSpec& spec, const jobs::CheckSpec& check) {
  std::vector<MachineParts> all;
  const auto add = [&]<class Own>(const Own& own) {
    if constexpr (requires(const BackendSetup& any) { describe_parts(own, any); }) {
      all.push_back({std::string(Own::kName), [own, options = spec.nki, check] {
                       return describe_parts(own, BackendSetup{options, check, default_device_paths()});
                     }});
    }
  };
  for (const auto& backend : jobs::all_backends())
    std::visit(add, backend.index() == spec.backend.index() ? spec.backend : backend);
  return all;
}

}  // namespace nkigrid::device
