#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace nkigrid {

/// Incremental SHA-256 (OpenSSL). Not copyable; one digest an object.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  Sha256& update(std::string_view bytes);
  /// Adds a field that cannot run into its neighbours: length as unsigned 64-bit little endian, then the bytes.
  Sha256& field(std::string_view bytes);
  std::array<std::uint8_t, 32> digest();
  std::string hex();  ///< 64 lower-case hex digits

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string sha256_hex(std::string_view bytes);

/// HMAC-SHA256 (OpenSSL). @source RFC 2104
std::array<std::uint8_t, 32> hmac_sha256(std::string_view key, std::string_view bytes);

std::string to_hex(const std::array<std::uint8_t, 32>& digest);  ///< 64 lower-case hex digits

/// H(...) of the kernel interface: the first 8 bytes, little endian, of SHA-256 over length-prefixed UTF-8 fields
/// (Sha256::field). Numbers are passed in decimal. Every draw of a run is keyed by it, so no draw depends on
/// attempt, rank, lane, host, time, hash seed or run id.
std::uint64_t keyed_hash(std::initializer_list<std::string_view> fields);

/// The sampling seed of an episode: H(run seed, "sample", cell, task, replicate) mod 2^31; the same in every turn and
/// attempt.
std::uint32_t sampling_seed(std::uint64_t run_seed, std::string_view cell, std::string_view task,
                            std::uint32_t replicate);

}  // namespace nkigrid
