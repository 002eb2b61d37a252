#include "runner/log/hdf5.hpp"

#include <algorithm>

#include "runner/log/hdf5_call.hpp"
#include "runner/log/hdf5_chunks.hpp"

namespace nkigrid::log::h5 {
namespace {

constexpr unsigned kDeflateLevel = 4;

Type word_type(std::size_t width) {
  Type type(made(H5Tcopy(H5T_C_S1), "make string type", ""));
  made(H5Tset_size(type.get(), std::max<std::size_t>(width, 1)), "size string type", "");
  made(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "pad string type", "");
  made(H5Tset_cset(type.get(), H5T_CSET_UTF8), "mark string type", "");
  return type;
}

Dataset create_dataset(Hid where, const std::string& name, hid_t type, hsize_t rows, hsize_t chunk) {
  const hsize_t most = H5S_UNLIMITED;
  const Space space(made(H5Screate_simple(1, &rows, &most), "make space of", name));
  const List list(made(H5Pcreate(H5P_DATASET_CREATE), "make list of", name));
  made(H5Pset_chunk(list.get(), 1, &chunk), "chunk", name);
  made(H5Pset_shuffle(list.get()), "shuffle", name);
  made(H5Pset_deflate(list.get(), kDeflateLevel), "deflate", name);
  return Dataset(made(H5Dcreate2(where, name.c_str(), type, space.get(), H5P_DEFAULT, list.get(), H5P_DEFAULT),
                      "create dataset", name));
}

void write_column(Hid where, const std::string& name, hid_t type, std::uint64_t rows, const void* values) {
  const hsize_t chunk = std::clamp<hsize_t>(rows, 1, kColumnChunk);
  auto dataset = create_dataset(where, name, type, rows, chunk);
  if (rows > 0) made(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write dataset", name);
  dataset.close();
}

void write_scalar(Hid where, const std::string& name, hid_t type, const void* value) {
  const Space space(made(H5Screate(H5S_SCALAR), "make space of", name));
  const Attribute attribute(
      made(H5Acreate2(where, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), "create attribute", name));
  made(H5Awrite(attribute.get(), type, value), "write attribute", name);
}

}  // namespace

int close_file(Hid id) noexcept {
  const Call call;
  return H5Fclose(id);
}
int close_group(Hid id) noexcept {
  const Call call;
  return H5Gclose(id);
}
int close_dataset(Hid id) noexcept {
  const Call call;
  return H5Dclose(id);
}
void throw_close_failed() {
  const Call call;
  throw Error(ErrorCode::internal, fmt::format("cannot close an HDF5 object: {}", take_message()));
}

Group create_group(const File& file, const std::string& name) {
  const Call call;
  return Group(made(H5Gcreate2(file.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "create group", name));
}

void write_attribute(Holder holder, const std::string& name, std::string_view word) {
  const Call call;
  const auto type = word_type(word.size());
  const std::string padded = word.empty() ? std::string(1, '\0') : std::string(word);
  write_scalar(holder.get(), name, type.get(), padded.data());
}
void write_attribute(Holder holder, const std::string& name, std::uint64_t value) {
  const Call call;
  write_scalar(holder.get(), name, H5T_NATIVE_UINT64, &value);
}
void write_attribute(Holder holder, const std::string& name, std::int32_t value) {
  const Call call;
  write_scalar(holder.get(), name, H5T_NATIVE_INT32, &value);
}

void write_numbers(const Group& group, const std::string& name, Number type, std::uint64_t rows, const void* values) {
  const Call call;
  write_column(group.get(), name, native(type), rows, values);
}
void write_words(const Group& group, const std::string& name, std::uint64_t rows, std::size_t width,
                 const char* packed) {
  const Call call;
  const auto type = word_type(width);
  write_column(group.get(), name, type.get(), rows, packed);
}

Dataset create_bytes(const File& file, const std::string& name) {
  const Call call;
  return create_dataset(file.get(), name, H5T_NATIVE_UINT8, 0, kTextChunk);
}

void append_bytes(const Dataset& dataset, std::uint64_t at, std::string_view bytes) {
  const Call call;
  const hsize_t start = at, count = bytes.size(), size = start + count;
  made(H5Dset_extent(dataset.get(), &size), "grow", "text");
  const Space file_space(made(H5Dget_space(dataset.get()), "get space of", "text"));
  const Space memory_space(made(H5Screate_simple(1, &count, nullptr), "make space of", "text"));
  made(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr), "select in", "text");
  made(H5Dwrite(dataset.get(), H5T_NATIVE_UINT8, memory_space.get(), file_space.get(), H5P_DEFAULT, bytes.data()),
       "write", "text");
}

}  // namespace nkigrid::log::h5
