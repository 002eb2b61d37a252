#include "runner/device/make_device.hpp"

#include <utility>

#include "runner/device/check/checked_device.hpp"

namespace nkigrid::device {

std::unique_ptr<Device> make_device(const jobs::DeviceSpec& spec, const jobs::CheckSpec& check, const DrawSource& draws,
                                    std::shared_ptr<BackendServers> servers, const DevicePaths& paths) {
  auto backend = build_backend(spec.backend, {spec.nki, check, paths}, std::move(servers));
  return make_checked_device(std::move(backend), check, draws, paths);
}

}  // namespace nkigrid::device
