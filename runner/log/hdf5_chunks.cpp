#include "runner/log/hdf5_chunks.hpp"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "runner/log/hdf5_call.hpp"

namespace nkigrid::log::h5 {
namespace {

/// Unpacked: words of 4,096 bytes in a writer's chunk.
constexpr std::uint64_t kMostChunkBytes = std::uint64_t{64} << 20;

/// @returns false where `packed` is no deflate stream of exactly `bytes`
bool inflate_exactly(const std::string& packed, std::string& bytes) {
  uLongf size = bytes.size();
  return ::uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                      packed.size()) == Z_OK &&
         size == bytes.size();
}

/// The first bytes of all values stand first, then the second ones, ...; what is left over after whole values, last.
std::string unshuffled(const std::string& bytes, std::size_t width) {
  std::string values = bytes;
  const auto count = bytes.size() / width;
  for (std::size_t b = 0; b < width; ++b)
    for (std::size_t i = 0; i < count; ++i) values[i * width + b] = bytes[b * count + i];
  return values;
}

}  // namespace

void Chunks::refuse(std::string_view why) const {
  throw Error(ErrorCode::corrupt, fmt::format("dataset '{}' {}", name_, why));
}

Chunks::Chunks(const Dataset& dataset, std::string name) : dataset_(dataset.get()), name_(std::move(name)) {
  const Call call;
  const Space space(had(H5Dget_space(dataset_), "read space of", name_));
  if (had(H5Sget_simple_extent_ndims(space.get()), "read rank of", name_) != 1) refuse("is not one-dimensional");
  hsize_t rows = 0;
  had(H5Sget_simple_extent_dims(space.get(), &rows, nullptr), "read size of", name_);
  rows_ = rows;
  const Type type(had(H5Dget_type(dataset_), "read type of", name_));
  width_ = H5Tget_size(type.get());
  const List made_so(had(H5Dget_create_plist(dataset_), "read the layout of", name_));
  take_layout(made_so.get());
  take_filters(made_so.get());
}

/// A dataset's bytes may lie in other files (external storage, virtual datasets), and HDF5 would read those past every
/// seal; in chunks they never do.
void Chunks::take_layout(Hid made_so) {
  if (H5Pget_layout(made_so) != H5D_CHUNKED) refuse("is not in chunks (its bytes may lie outside of the file)");
  hsize_t chunk = 0;
  if (had(H5Pget_chunk(made_so, 1, &chunk), "read the chunks of", name_) != 1 || chunk == 0 || chunk > kTextChunk ||
      chunk < std::min<hsize_t>(rows_, kColumnChunk))
    refuse(fmt::format("has chunks of {} rows (from {} to {} in a segment)", chunk, kColumnChunk, kTextChunk));
  if (width_ == 0 || chunk > kMostChunkBytes / width_)
    refuse(fmt::format("has chunks of {} values of {} bytes", chunk, width_));
  chunk_ = chunk;
}

void Chunks::take_filters(Hid made_so) {
  const int count = had(H5Pget_nfilters(made_so), "read the filters of", name_);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    const auto filter =
        H5Pget_filter2(made_so, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, nullptr);
    auto& bit = filter == H5Z_FILTER_SHUFFLE ? shuffle_ : deflate_;
    const bool ours = filter == H5Z_FILTER_DEFLATE || (filter == H5Z_FILTER_SHUFFLE && deflate_ == 0);
    if (!ours || bit != 0) refuse("is packed otherwise than shuffled and deflated, each at most once");
    bit = 1U << static_cast<unsigned>(i);
  }
}

std::string Chunks::read(std::uint64_t index) const {
  const Call call;
  const hsize_t at = index * chunk_;
  hsize_t size = 0;
  had(H5Dget_chunk_storage_size(dataset_, &at, &size), "find a chunk of", name_);
  if (size == 0) refuse(fmt::format("lacks its chunk at row {}", at));
  std::string bytes(chunk_ * width_, '\0');
  if (size > ::compressBound(bytes.size()))
    refuse(fmt::format("has {} bytes in its chunk at row {}, which unpacks to {}", size, at, bytes.size()));
  std::string stored(size, '\0');
  std::uint32_t without = 0;
  had(H5Dread_chunk(dataset_, H5P_DEFAULT, &at, &without, stored.data()), "read dataset", name_);
  if ((deflate_ & ~without) == 0)
    bytes = std::move(stored);
  else if (!inflate_exactly(stored, bytes))
    refuse(fmt::format("has a chunk at row {} that does not unpack to {} bytes", at, chunk_ * width_));
  if (bytes.size() != chunk_ * width_)
    refuse(fmt::format("has {} bytes in its chunk at row {}, not {}", size, at, chunk_ * width_));
  return (shuffle_ & ~without) != 0 && width_ > 1 ? unshuffled(bytes, width_) : bytes;
}

void Chunks::read_rows(std::uint64_t at, std::uint64_t count, char* to) const {
  while (count > 0) {
    const auto skipped = at % chunk_;
    const auto here = std::min(count, chunk_ - skipped);
    const auto bytes = read(at / chunk_);
    std::copy_n(bytes.data() + skipped * width_, here * width_, to);
    to += here * width_;
    at += here;
    count -= here;
  }
}

}  // namespace nkigrid::log::h5
