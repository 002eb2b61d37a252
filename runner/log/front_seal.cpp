#include "runner/log/front_seal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/bytes.hpp"

namespace nkigrid::log {
namespace {

constexpr std::string_view kFrontMagic = "NKIGSEAL", kFrontWhat = "nkigrid segment 1";
constexpr std::uint32_t kFrontVersion = 1;
constexpr std::size_t kFixedBytes = 8 + 4 + 4 + 8 + 32;  // magic, version, block size, content size, HMAC
constexpr std::size_t kMacAt = 24;
constexpr std::uint64_t kLeastFront = 512;  // HDF5 looks for its first byte at 0, 512, 1024, 2048 ...
constexpr std::uint64_t kMostContent = std::uint64_t{16} << 30;

std::uint64_t front_bytes_of(std::uint64_t blocks) {
  return std::max(kLeastFront, std::bit_ceil(kFixedBytes + 32 * blocks));
}
std::uint64_t blocks_of(std::uint64_t content) { return (content + kSealBlockBytes - 1) / kSealBlockBytes; }

std::string_view bytes_of(const Mac& mac) { return {reinterpret_cast<const char*>(mac.data()), mac.size()}; }
Mac mac_at(std::string_view bytes, std::size_t at) {
  Mac mac{};
  std::memcpy(mac.data(), bytes.data() + at, mac.size());
  return mac;
}

/// @param digests as they stand in the file
Mac front_mac(const SealKey& key, std::uint64_t content, std::string_view digests) {
  Sha256 hash;
  hash.field(std::to_string(content)).field(digests);
  return key.seal(kFrontWhat, std::move(hash));
}

/// Up to `size` bytes from the start. @throws Error{io}
std::string read_start(int fd, std::size_t size, const std::filesystem::path& name) {
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const auto read = ::pread(fd, bytes.data() + got, size - got, static_cast<off_t>(got));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) throw_errno(errno, "read segment", name.native());
    if (read == 0) break;
    got += static_cast<std::size_t>(read);
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace

std::string make_front(const SealKey& key, std::string_view content) {
  if (!key) return {};
  std::string digests;
  for (std::size_t at = 0; at < content.size(); at += kSealBlockBytes)
    digests += bytes_of(Sha256().update(content.substr(at, kSealBlockBytes)).digest());
  std::string front(kFrontMagic);
  put(front, kFrontVersion);
  put(front, static_cast<std::uint32_t>(kSealBlockBytes));
  put(front, std::uint64_t{content.size()});
  front += bytes_of(front_mac(key, content.size(), digests));
  front += digests;
  front.resize(front_bytes_of(blocks_of(content.size())), '\0');
  return front;
}

std::string seal_of_front(std::string_view front) { return front.empty() ? "" : to_hex(mac_at(front, kMacAt)); }

std::optional<FrontSeal> read_front(int fd, const SealKey& key, const std::filesystem::path& name) {
  const auto fixed = read_start(fd, kFixedBytes, name);
  if (fixed.size() < kFixedBytes || !fixed.starts_with(kFrontMagic) || get<std::uint32_t>(fixed, 8) != kFrontVersion ||
      get<std::uint32_t>(fixed, 12) != kSealBlockBytes)
    return std::nullopt;
  FrontSeal seal;
  seal.content_bytes = get<std::uint64_t>(fixed, 16);
  if (seal.content_bytes > kMostContent) return std::nullopt;
  const auto blocks = blocks_of(seal.content_bytes);
  seal.front_bytes = front_bytes_of(blocks);
  const auto front = read_start(fd, kFixedBytes + 32 * blocks, name);
  if (front.size() < kFixedBytes + 32 * blocks) return std::nullopt;
  seal.mac = mac_at(front, kMacAt);
  if (seal.mac != front_mac(key, seal.content_bytes, std::string_view(front).substr(kFixedBytes))) return std::nullopt;
  for (std::uint64_t block = 0; block < blocks; ++block) seal.blocks.push_back(mac_at(front, kFixedBytes + 32 * block));
  return seal;
}

bool is_sealed_by(const SealKey& key, const std::filesystem::path& segment) {
  if (!key) return true;
  const Fd fd(::open(segment.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw_errno(errno, "open segment", segment.native());
  return read_front(fd.get(), key, segment).has_value();
}

}  // namespace nkigrid::log
