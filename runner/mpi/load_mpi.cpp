#include "jobs/base/plugin.hpp"
#include "runner/mpi/comm.hpp"

namespace nkigrid::mpi {

std::string library_version() {
  using Entry = const char* (*)();
  return reinterpret_cast<Entry>(load_plugin("nkigrid_mpi.so", "nkigrid_mpi_version"))();
}

std::unique_ptr<Comm> make_mpi(int* argc, char*** argv) {
  check_launcher(library_version());
  using Entry = Comm* (*)(int* argc, char*** argv);
  const auto entry = reinterpret_cast<Entry>(load_plugin("nkigrid_mpi.so", "nkigrid_make_mpi"));
  return std::unique_ptr<Comm>(entry(argc, argv));
}

}  // namespace nkigrid::mpi
