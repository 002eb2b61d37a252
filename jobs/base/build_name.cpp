#include "jobs/base/build_name.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string_view>

#include <fmt/core.h>

#include "jobs/base/version.hpp"

namespace nkigrid {
namespace {

constexpr std::size_t kShownBytes = 4;

std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

/// The build id among the notes of one segment, in hex; "": it is not there. @source elf(5), "Notes"
std::string id_among(std::string_view notes) {
  ElfW(Nhdr) head;
  while (notes.size() >= sizeof head) {
    std::memcpy(&head, notes.data(), sizeof head);
    const auto name = padded(head.n_namesz), whole = sizeof head + name + padded(head.n_descsz);
    if (whole > notes.size()) break;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_descsz >= kShownBytes &&
        notes.substr(sizeof head, head.n_namesz) == std::string_view("GNU", 4)) {
      std::string id;
      for (const unsigned char byte : notes.substr(sizeof head + name, kShownBytes)) id += fmt::format("{:02x}", byte);
      return id;
    }
    notes.remove_prefix(whole);
  }
  return {};
}

/// dl_iterate_phdr() begins with the program itself.
int take_id(dl_phdr_info* object, std::size_t, void* id) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* begin = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
    auto found = id_among({begin, segment.p_memsz});
    if (found.empty()) continue;
    *static_cast<std::string*>(id) = std::move(found);
    break;
  }
  return 1;
}

}  // namespace

std::string build_name() {
  std::string id;
  ::dl_iterate_phdr(take_id, &id);
  if (id.empty()) return kVersion;
  return fmt::format("{}{}{}", kVersion, std::string_view(kVersion).find('+') == std::string_view::npos ? '+' : '.',
                     id);
}

}  // namespace nkigrid
