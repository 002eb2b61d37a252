#pragma once

#include <array>
#include <string_view>

#include "runner/nkisim/program/program.hpp"

/// Bytes that operations move, as the vendor's profiler counts them. docs/decisions/estimate.md.
namespace nkigrid::nkisim {

/// Of transfers, all bytes on both sides; of instructions, the bytes of one partition.
struct Traffic {
  double hbm_read = 0, hbm_written = 0, sbuf_read = 0, sbuf_written = 0, psum_read = 0, psum_written = 0;
};

/// Under the profiler's names.
struct Counter {
  std::string_view name;
  double Traffic::*bytes;
};
inline constexpr std::array<Counter, 6> kCounters{{{"hbm_read_bytes", &Traffic::hbm_read},
                                                   {"hbm_write_bytes", &Traffic::hbm_written},
                                                   {"sbuf_read_bytes", &Traffic::sbuf_read},
                                                   {"sbuf_write_bytes", &Traffic::sbuf_written},
                                                   {"psum_read_bytes", &Traffic::psum_read},
                                                   {"psum_write_bytes", &Traffic::psum_written}}};

Traffic& operator+=(Traffic& sum, const Traffic& part);
Traffic operator*(double times, const Traffic& traffic);

Traffic traffic_of(const Program& program, const Map& map);
Traffic traffic_of(const Program& program, const Fold& fold);
Traffic traffic_of(const Program& program, const Matmul& matmul);
Traffic traffic_of(const Program& program, const Scan& scan);
Traffic traffic_of(const Program& program, const SpecialOp& special);

/// Does an operand stand on one partition, where the result stands on several?
bool is_repeated(const Program& program, const Map& map, const Access& operand);
/// Of bringing such an operand to all partitions: through PE into PSUM, and from there to SBUF.
Traffic traffic_of_repeating(const Program& program, const Head& head, const Access& operand);

}  // namespace nkigrid::nkisim
