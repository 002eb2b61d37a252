#pragma once

#include <bitset>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/ranges.hpp"

/// The parts of validate(). Internal to the room.
namespace nkigrid::nkisim {

/// Partitions of SBUF and PSUM, and of the tensor engine's stationary side. @source NKI, "Trainium architecture"
inline constexpr std::int64_t kPartitions = 128;

/// What an access is used for.
struct Use {
  bool written = false;
  bool checked_when_run = false;  ///< a mask or a condition may be what makes it legal
  bool dma = false;               ///< may touch HBM and start at any partition
  bool may_be_dynamic = false;
  bool one_tile = false;  ///< its slots must not walk over block dimensions
};

class Validator {
 public:
  explicit Validator(const Program& program);
  void run();

 private:
  [[noreturn]] void fail(std::string_view what) const;
  const Buffer& buffer(std::uint32_t id) const { return program_.buffers[id]; }
  bool on_chip(std::uint32_t id) const { return is_on_chip(buffer(id).kind); }

  // validate_buffers.cpp
  void buffers();
  void one_buffer(std::uint32_t id);
  void alias(std::uint32_t id);
  void interface_lists();
  void atoms();

  // validate.cpp
  void block(const Block& nodes, double times);
  void node(const Node& node, double times, std::vector<std::uint32_t>& allocated);
  void op(const Loop& loop, double times, std::vector<std::uint32_t>& allocated);
  void op(const If& branch, double times, std::vector<std::uint32_t>& allocated);
  void op(const Alloc& alloc, double times, std::vector<std::uint32_t>& allocated);
  template <class Op>
  void op(const Op& what, double times, std::vector<std::uint32_t>&) {
    check(what, times);
  }

  // validate_ops.cpp
  void check(const Map& map, double times);
  void check(const Fold& fold, double times);
  void check(const Matmul& matmul, double times);
  void check(const Scan& scan, double times);
  void check(const SpecialOp& special, double times);
  Use use(const Head& head) const;
  void head(const Head& head, double times, double factor = 1);
  void expression(const Head& head, const std::vector<Source>& sources, const std::vector<Step>& steps, Work work,
                  const Use& use);
  void accumulation(std::uint8_t function, const std::vector<std::uint32_t>& loops, Work work);
  void function(Fn fn, Work work);
  void source(const Source& source, const std::vector<std::int64_t>& shape, const Use& use);
  void without_slots(const Head& head, std::string_view what);
  void one_slot_each(const Head& head);

  // validate_access.cpp
  void affine(const Affine& affine);
  void index(const Index& index, std::size_t rank);
  void access(const Access& access, const std::vector<std::int64_t>& shape, const Use& use);
  void bounds(const Access& access, const std::vector<std::int64_t>& shape, const Use& use);
  void destination(const Access& access, const std::vector<std::int64_t>& shape, Use use, double times);
  void partition_start(const Access& access, const std::vector<std::int64_t>& shape);
  void psum_bank(const Access& access, const std::vector<std::int64_t>& shape);

  const Program& program_;
  Ranges ranges_;
  std::uint32_t line_ = 0;
  std::size_t nodes_ = 0, depth_ = 0, branches_ = 0;
  double operations_ = 0, elements_ = 0;
  std::vector<bool> allocated_, has_alloc_, written_;
  std::vector<std::uint32_t> open_loops_;
  using Atoms = std::bitset<kMaxAtoms>;
  std::vector<Atoms> depends_;  ///< loop atoms that an atom depends on
  Atoms open_atoms_;
  std::map<std::uint32_t, std::size_t> atom_of_loop_;
};

}  // namespace nkigrid::nkisim
