#include <fmt/core.h>

#include <cstdlib>
#include <cstring>

#include "runner/log/hdf5_call.hpp"

/// A file in memory by HDF5's core driver. H5Fget_file_image would be the plain way out, but in 1.10.8 it
/// clears a flag in the superblock without renewing its checksum; so we own the driver's buffer through its
/// callbacks and keep it when the file closes.
namespace nkigrid::log::h5 {
namespace {

constexpr std::size_t kGrowth = 1 << 20;

// Superblock version 3 of the HDF5 File Format Specification: signature (8), version, sizes of offsets and
// lengths, flags (1 each), base address (8), extension address (8), end-of-file address (8).
constexpr std::size_t kVersionAt = 8, kOffsetSizeAt = 9, kEndOfFileAt = 28;

}  // namespace

struct MemoryFile::Image {
  char* bytes = nullptr;
  std::size_t allocated = 0;
  bool closed = false;

  static void destroy(Image* image) {
    std::free(image->bytes);
    delete image;
  }
  static void* resize(void* old, std::size_t size, H5FD_file_image_op_t, void* self) {
    auto* image = static_cast<Image*>(self);
    void* grown = std::realloc(old, size);
    if (grown == nullptr) return nullptr;
    if (size > image->allocated) std::memset(static_cast<char*>(grown) + image->allocated, 0, size - image->allocated);
    image->bytes = static_cast<char*>(grown);
    image->allocated = size;
    return grown;
  }
  static void* allocate(std::size_t size, H5FD_file_image_op_t op, void* self) {
    return resize(nullptr, size, op, self);
  }
  static herr_t let_go(void*, H5FD_file_image_op_t, void* self) {
    static_cast<Image*>(self)->closed = true;  // and keep the bytes
    return 0;
  }
  static void* same(void* self) { return self; }
  static herr_t keep(void*) { return 0; }
};

MemoryFile::MemoryFile() : image_(new Image, Image::destroy) {
  const Call call;
  const auto access = file_access();
  made(H5Pset_fapl_core(access.get(), kGrowth, 0), "set memory driver", "");
  // The forms of HDF5 1.10: they alone have checksums over headers and chunk indexes. The superblock is then
  // of version 3.
  made(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110), "set format bounds", "");
  H5FD_file_image_callbacks_t callbacks = {Image::allocate, nullptr,     Image::resize, Image::let_go,
                                           Image::same,     Image::keep, image_.get()};
  made(H5Pset_file_image_callbacks(access.get(), &callbacks), "set image callbacks", "");
  // The driver tells files apart by name, and several threads may be sealing.
  const auto name = fmt::format("nkigrid-segment-{}", static_cast<const void*>(image_.get()));
  file_ = File(made(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), "create", "segment in memory"));
}

std::string_view MemoryFile::close() {
  file_.close();
  const auto& image = *image_;
  const bool known = image.closed && image.allocated > kEndOfFileAt + 8 && image.bytes[kVersionAt] == 3 &&
                     image.bytes[kOffsetSizeAt] == 8;
  std::uint64_t end = 0;
  if (known) std::memcpy(&end, image.bytes + kEndOfFileAt, sizeof end);
  if (!known || end > image.allocated) throw Error(ErrorCode::internal, "HDF5 left no whole file in memory");
  return {image.bytes, end};
}

}  // namespace nkigrid::log::h5
