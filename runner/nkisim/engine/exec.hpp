#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/ranges.hpp"

/// The executable tree. lower() turns an operation of a valid program into its node once; run() then evaluates offsets
/// only. Internal to the room.
namespace nkigrid::nkisim {

class Machine;

struct Exec {
  std::uint32_t line = 0;
  virtual ~Exec() = default;
  virtual void run(Machine& machine) = 0;
};
using ExecBlock = std::vector<std::unique_ptr<Exec>>;

/// What lowering knows; lives as long as the tree is made.
struct Lowering {
  const Program& program;
  const Ranges& ranges;
  std::map<std::uint32_t, std::uint32_t> loop_numbers;  ///< loop id -> dense number
};
std::unique_ptr<Exec> lower(const Map& map, const Lowering& lowering);
std::unique_ptr<Exec> lower(const Fold& fold, const Lowering& lowering);
std::unique_ptr<Exec> lower(const Matmul& matmul, const Lowering& lowering);
std::unique_ptr<Exec> lower(const Scan& scan, const Lowering& lowering);
std::unique_ptr<Exec> lower(const SpecialOp& special, const Lowering& lowering);

}  // namespace nkigrid::nkisim
