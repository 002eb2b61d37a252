#include "runner/device/tensor_file.hpp"

#include <fcntl.h>

#include <cstring>
#include <string_view>

#include <nlohmann/json.hpp>

#include "jobs/base/hash.hpp"

namespace nkigrid::device {
namespace {

constexpr std::string_view kMagic{"NKIREF1\0", 8};
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kPrefix = 8 + kDigestBytes + 8;

std::size_t pad(std::size_t size) { return (size + 63) / 64 * 64; }

bool is_whole(std::string_view bytes) {
  if (bytes.size() < kPrefix || !bytes.starts_with(kMagic)) return false;
  const auto digest = Sha256().update(bytes.substr(kMagic.size() + kDigestBytes)).digest();
  return std::memcmp(digest.data(), bytes.data() + kMagic.size(), kDigestBytes) == 0;
}

/// @pre is_whole(bytes): what it says was written by our worker. The places are checked all the same.
std::optional<std::vector<TensorPlace>> read_places(std::string_view bytes) {
  std::uint64_t head_bytes = 0;
  std::memcpy(&head_bytes, bytes.data() + kPrefix - 8, 8);
  if (head_bytes > bytes.size() - kPrefix) return std::nullopt;
  const auto head = nlohmann::json::parse(bytes.substr(kPrefix, head_bytes), nullptr, false);
  if (!head.is_object()) return std::nullopt;
  const auto start = pad(kPrefix + head_bytes);
  std::vector<TensorPlace> places;
  for (const auto& tensor : head.at("tensors")) {
    TensorPlace place{tensor.at("dtype"), tensor.at("shape"), start + tensor.at("offset").get<std::size_t>(),
                      tensor.at("bytes")};
    if (place.offset > bytes.size() || place.bytes > bytes.size() - place.offset) return std::nullopt;
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace

std::optional<TensorFile> open_tensor_file(const std::filesystem::path& path) {
  TensorFile file;
  file.fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.fd) return std::nullopt;
  file.mapping = proc::Mapping::map(file.fd.get(), proc::file_size(file.fd.get()), proc::Mapping::Access::read_only);
  const std::string_view bytes(reinterpret_cast<const char*>(file.mapping.bytes().data()), file.mapping.size());
  if (!is_whole(bytes)) return std::nullopt;
  try {
    auto places = read_places(bytes);
    if (!places) return std::nullopt;
    file.tensors = std::move(*places);
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return file;
}

}  // namespace nkigrid::device
