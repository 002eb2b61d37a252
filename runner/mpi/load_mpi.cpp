#include "jobs/base/plugin.hpp"
#include "runner/mpi/comm.hpp"

namespace nkigrid::mpi {

std::unique_ptr<Comm> make_mpi(int* argc, char*** argv) {
  using Entry = Comm* (*)(int* argc, char*** argv);
  const auto entry = reinterpret_cast<Entry>(load_plugin("nkigrid_mpi.so", "nkigrid_make_mpi"));
  return std::unique_ptr<Comm>(entry(argc, argv));
}

}  // namespace nkigrid::mpi
