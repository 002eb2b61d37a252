#include "runner/nkisim/estimate/restructure.hpp"

#include "runner/nkisim/estimate/charge_parts.hpp"
#include "runner/nkisim/estimate/fuse_loops.hpp"
#include "runner/nkisim/estimate/remove_duplicates.hpp"

namespace nkigrid::nkisim {
namespace {

/// Without the data of constants, which are megabytes.
Program copy_of(const Program& program) {
  Program copy;
  copy.grid = program.grid;
  copy.atoms = program.atoms;
  copy.outputs = program.outputs;
  copy.params = program.params;
  copy.body = program.body;
  for (const Buffer& buffer : program.buffers) {
    copy.buffers.push_back({buffer.kind,
                            buffer.dtype,
                            buffer.name,
                            buffer.shape,
                            buffer.partition_dim,
                            buffer.alias_of,
                            buffer.root,
                            buffer.line,
                            {}});
  }
  return copy;
}

}  // namespace

Program restructured(const Program& program) {
  Program copy = copy_of(program);
  charge_parts(copy);
  fuse_loops(copy);
  remove_duplicates(copy);
  return copy;
}

}  // namespace nkigrid::nkisim
