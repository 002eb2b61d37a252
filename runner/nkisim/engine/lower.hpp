#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runner/nkisim/engine/exec.hpp"

namespace nkigrid::nkisim {

/// A valid program in executable form. Keeps a reference to the program. Internal to the room.
class Executable {
 public:
  /// @param leave_out_copies run the forwarded() form
  /// @param track_all a written-bitmap for every buffer, not for those alone whose meaning depends on it
  explicit Executable(const Program& program, bool leave_out_copies = true, bool track_all = false);
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  /// Sizes the machine's storages; the caller then adopts parameters, constants and outputs.
  void prepare(Machine& machine) const;
  /// All grid instances in row-major order. @throws Fault
  void run(Machine& machine) const;

 private:
  void build(const Program& program);

  const Program& program_;
  Ranges ranges_;
  std::map<std::uint32_t, std::uint32_t> loop_numbers_;
  Program forwarded_;
  std::vector<std::int64_t> grid_;  ///< of what was built
  ExecBlock body_;
  std::vector<std::uint32_t> granules_;  ///< by root buffer: bytes a bit of its written-bitmap stands for; 0: none
};

}  // namespace nkigrid::nkisim
