#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "jobs/base/files.hpp"
#include "runner/log/front_seal.hpp"
#include "runner/log/hdf5_call.hpp"

/// A sealed file as HDF5 reads it, by a driver of our own (H5FDregister): no byte gets through whose block is not the
/// one that was sealed, and a block costs its digest once. So nothing above needs to know of seals.
namespace nkigrid::log::h5 {
namespace {

/// What HDF5 hands from the access list to open_sealed_file().
struct Source {
  int fd;  ///< stays the caller's
  const FrontSeal* seal;
};

struct SealedFile {
  H5FD_t shared = {};  ///< HDF5's own part: first
  Fd fd;
  FrontSeal seal;
  haddr_t end_of_addresses = 0;
  std::vector<bool> proven;  ///< by block
};

SealedFile& of(H5FD_t* file) { return *reinterpret_cast<SealedFile*>(file); }
const SealedFile& of(const H5FD_t* file) { return *reinterpret_cast<const SealedFile*>(file); }

bool read_whole(int fd, char* to, std::size_t size, std::uint64_t at) {
  while (size > 0) {
    const auto got = ::pread(fd, to, size, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got, at += static_cast<std::uint64_t>(got), size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// For HDF5's error stack, where had() finds it.
bool refuse(const std::string& why) {
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, H5E_READERROR, "%s", why.c_str());
  return false;
}

/// Places are told as they stand in the file, the front included.
bool refuse_block(const SealedFile& file, std::uint64_t start, std::uint64_t size) {
  struct stat about = {};
  const auto sealed_bytes = file.seal.front_bytes + file.seal.content_bytes;
  if (::fstat(file.fd.get(), &about) == 0 && static_cast<std::uint64_t>(about.st_size) < sealed_bytes)
    return refuse(fmt::format("it ends at byte {} and was sealed with {}", about.st_size, sealed_bytes));
  const auto from = file.seal.front_bytes + start;
  return refuse(fmt::format("bytes {} to {} are not those that were sealed", from, from + size - 1));
}

/// Copies [at, at + size) of one block of the content. @returns false where the block is not what was sealed
bool read_in_block(SealedFile& file, std::uint64_t block, std::uint64_t at, std::size_t size, char* to) {
  const auto start = block * kSealBlockBytes;
  std::string bytes(std::min(kSealBlockBytes, file.seal.content_bytes - start), '\0');
  if (file.proven[block])
    return read_whole(file.fd.get(), to, size, file.seal.front_bytes + at) || refuse_block(file, start, bytes.size());
  if (!read_whole(file.fd.get(), bytes.data(), bytes.size(), file.seal.front_bytes + start) ||
      Sha256().update(bytes).digest() != file.seal.blocks[block])
    return refuse_block(file, start, bytes.size());
  file.proven[block] = true;
  std::memcpy(to, bytes.data() + (at - start), size);
  return true;
}

H5FD_t* open_sealed_file(const char*, unsigned flags, hid_t access, haddr_t) {
  const auto* source = static_cast<const Source*>(H5Pget_driver_info(access));
  if (source == nullptr || (flags & H5F_ACC_RDWR) != 0) return nullptr;
  auto file = std::make_unique<SealedFile>();
  file->fd = Fd(::fcntl(source->fd, F_DUPFD_CLOEXEC, 0));
  if (!file->fd) return nullptr;
  file->seal = *source->seal;
  file->proven.resize(file->seal.blocks.size());
  return &file.release()->shared;
}
herr_t close_sealed_file(H5FD_t* file) {
  delete &of(file);
  return 0;
}
herr_t query(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr) *flags = H5FD_FEAT_ACCUMULATE_METADATA_READ | H5FD_FEAT_DATA_SIEVE;
  return 0;
}
haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t) { return of(file).end_of_addresses; }
herr_t set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  of(file).end_of_addresses = address;
  return 0;
}
haddr_t get_eof(const H5FD_t* file, H5FD_mem_t) { return of(file).seal.front_bytes + of(file).seal.content_bytes; }

herr_t read(H5FD_t* opened, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer) {
  auto& file = of(opened);
  auto* to = static_cast<char*>(buffer);
  // HDF5 looks for its own first byte from 0 on: the seal is none of its business.
  for (; size > 0 && address < file.seal.front_bytes; ++address, --size) *to++ = '\0';
  for (std::uint64_t at = address - file.seal.front_bytes; size > 0;) {
    if (at >= file.seal.content_bytes) return -1;
    const auto block = at / kSealBlockBytes;
    const auto end = std::min((block + 1) * kSealBlockBytes, file.seal.content_bytes);
    const auto part = std::min<std::uint64_t>(size, end - at);
    if (!read_in_block(file, block, at, part, to)) return -1;
    to += part, at += part, size -= part;
  }
  return 0;
}
herr_t write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, size_t, const void*) { return -1; }

H5FD_class_t driver_class() {
  H5FD_class_t driver = {};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(300);  // 256 to 511 are for one's own use
#endif
  driver.name = "nkigrid_sealed";
  driver.maxaddr = HADDR_MAX;
  driver.fc_degree = H5F_CLOSE_SEMI;
  driver.fapl_size = sizeof(Source);
  driver.open = open_sealed_file;
  driver.close = close_sealed_file;
  driver.query = query;
  driver.get_eoa = get_eoa;
  driver.set_eoa = set_eoa;
  driver.get_eof = get_eof;
  driver.read = read;
  driver.write = write;
  const std::array<H5FD_mem_t, H5FD_MEM_NTYPES> map = H5FD_FLMAP_DICHOTOMY;
  std::copy(map.begin(), map.end(), driver.fl_map);
  return driver;
}

/// Registered once, for as long as the process lives.
hid_t driver() {
  static const H5FD_class_t kind = driver_class();
  static const hid_t id = made(H5FDregister(&kind), "register the driver of sealed files", "");
  return id;
}

}  // namespace

File open_sealed(const Fd& fd, const FrontSeal& seal, const std::filesystem::path& name) {
  const Call call;
  const auto access = file_access();
  const Source source{fd.get(), &seal};
  made(H5Pset_driver(access.get(), driver(), &source), "set the driver of", name.native());
  return File(had(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.get()), "open segment", name.native()));
}

}  // namespace nkigrid::log::h5
