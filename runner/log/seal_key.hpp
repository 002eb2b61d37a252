#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "jobs/base/hash.hpp"

namespace nkigrid::log {

using Mac = std::array<std::uint8_t, 32>;

/// What seals the files of a run's log (RUN/log_key, docs/formats/run_directory.md). One that is empty seals nothing,
/// and with it everything is read unproven.
class SealKey {
 public:
  SealKey() = default;
  explicit SealKey(std::string secret) : secret_(std::move(secret)) {}
  explicit operator bool() const noexcept { return !secret_.empty(); }

  /// @param what keeps seals of one kind of file from passing for another's
  Mac seal(std::string_view what, Sha256 content) const {
    const auto digest = content.digest();
    std::string bytes(what);
    bytes.append(reinterpret_cast<const char*>(digest.data()), digest.size());
    return hmac_sha256(secret_, bytes);
  }

 private:
  std::string secret_;
};

}  // namespace nkigrid::log
