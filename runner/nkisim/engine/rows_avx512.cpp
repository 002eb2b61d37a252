#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runner/nkisim/engine/rows.hpp"

// The same loops are compiled once an instruction set (flags in CMakeLists.txt); nothing of them has external linkage
// but the table.
namespace nkigrid::nkisim {
namespace {
// In this order: the later ones use the earlier.
// clang-format off
#include "runner/nkisim/engine/vector_math.inc.hpp"
#include "runner/nkisim/engine/row_casts.inc.hpp"
#include "runner/nkisim/engine/row_loops.inc.hpp"
#include "runner/nkisim/engine/functions_f32.inc.hpp"
#include "runner/nkisim/engine/functions_i32.inc.hpp"
// clang-format on
}  // namespace

const RowKernels kAvx512Rows{apply_f32, apply_i32, load_f32, load_i32, store_f32,    store_i32,
                             fold_f32,  fold_i32,  join_f32, join_i32, identity_f32, identity_i32};

}  // namespace nkigrid::nkisim
