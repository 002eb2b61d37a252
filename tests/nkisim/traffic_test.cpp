#include <gtest/gtest.h>

#include "runner/nkisim/estimate/estimate.hpp"
#include "runner/nkisim/estimate/traffic.hpp"
#include "tests/nkisim/make.hpp"

/// Bytes as the vendor's profiler counts them: docs/decisions/estimate.md has the profiles that say so.
namespace nkigrid::nkisim {
namespace {

using namespace make;

struct Tiles {
  Made made;
  std::uint32_t in, out, psum;
  explicit Tiles(Dtype dtype = Dtype::float32)
      : in(made.tile(BufferKind::sbuf, {128, 512}, dtype)),
        out(made.tile(BufferKind::sbuf, {128, 512}, dtype)),
        psum(made.tile(BufferKind::psum, {128, 512})) {}
  const Program& program() const { return made.program; }
};

TEST(Traffic, AnInstructionCountsTheBytesOfOnePartition) {
  const Tiles t;
  const Traffic sum = traffic_of(
      t.program(), map(Instr::activation, {128, 512}, whole(t.out, 2), {from(whole(t.in, 2))}, {{Fn::exp, {0}}}));
  EXPECT_EQ(sum.sbuf_read, 2048);
  EXPECT_EQ(sum.sbuf_written, 2048);
  EXPECT_EQ(sum.hbm_read + sum.hbm_written + sum.psum_read + sum.psum_written, 0);
}

TEST(Traffic, ATransferCountsAllBytesOnBothSides) {
  Tiles t;
  const auto x = t.made.param({128, 512});
  const Traffic sum =
      traffic_of(t.program(), map(Instr::load, {128, 512}, whole(t.in, 2), {from(whole(x, 2))}, {}, Work::raw));
  EXPECT_EQ(sum.hbm_read, 128 * 2048);
  EXPECT_EQ(sum.sbuf_written, 128 * 2048);
}

TEST(Traffic, TensorTensorHasNoBytes) {
  const Tiles t;
  const Traffic sum = traffic_of(t.program(), map(Instr::tensor_tensor, {128, 512}, whole(t.out, 2),
                                                  {from(whole(t.in, 2)), from(whole(t.in, 2))}, {{Fn::add, {0, 1}}}));
  EXPECT_EQ(sum.sbuf_read + sum.sbuf_written, 0);
}

Traffic of_matmul(Dtype dtype) {
  const Tiles t(dtype);
  Matmul op;
  op.head.instr = Instr::matmul;
  op.head.shape = {128, 128, 512};
  op.dst = access(t.psum, {at({0, 1, 0}), at({0, 0, 1})});
  op.stationary = access(t.in, {at({1, 0, 0}), at({0, 1, 0})});
  op.moving = access(t.out, {at({1, 0, 0}), at({0, 0, 1})});
  return traffic_of(t.program(), op);
}

TEST(Traffic, AMatmulInFloat32IsCountedInTwoPasses) {
  EXPECT_EQ(of_matmul(Dtype::float32).sbuf_read, 2 * (512 + 2048));
  EXPECT_EQ(of_matmul(Dtype::float32).psum_written, 2 * 2048);
  EXPECT_EQ(of_matmul(Dtype::bfloat16).sbuf_read, 256 + 1024);
  EXPECT_EQ(of_matmul(Dtype::bfloat16).psum_written, 2048);
}

TEST(Traffic, ATransposeReadsAnIdentityToo) {
  const Tiles t;
  const Access from_ = access(t.in, {at({0, 1}), at({1, 0})});
  Map op = map(Instr::transpose, {128, 128}, whole(t.psum, 2), {from(from_)}, {}, Work::raw);
  op.head.engine = Engine::tensor;
  EXPECT_EQ(traffic_of(t.program(), op).sbuf_read, 2 * (512 + 512));
  EXPECT_EQ(traffic_of(t.program(), op).psum_written, 2 * 512);
}

/// add_rmsnorm_matmul's weights go through PSUM once, mamba's rows in each trip, which loads them anew.
TEST(Traffic, ARowThatIsReadOnAllPartitionsGoesThroughPsumOnceATile) {
  const auto read = [](bool inside) {
    Made m;
    Loop loop;
    loop.trips = 8;
    const auto in = m.tile(BufferKind::sbuf, {128, 512}), out = m.tile(BufferKind::sbuf, {128, 512});
    const auto row = m.tile(BufferKind::sbuf, {1, 512}, Dtype::float32, {}, inside ? &loop.body : nullptr);
    const Access repeated = access(row, {at({0, 0}), at({0, 1})});
    loop.body.push_back({1, map(Instr::tensor_tensor, {128, 512}, whole(out, 2), {from(whole(in, 2)), from(repeated)},
                                {{Fn::multiply, {0, 1}}})});
    m.program.body.push_back({2, loop});
    return profile_of(m.program).traffic;
  };
  EXPECT_EQ(read(false).psum_read, 2048);
  EXPECT_EQ(read(true).psum_read, 8 * 2048);
  EXPECT_EQ(read(true).psum_written, 8 * 2048);
  EXPECT_EQ(read(true).sbuf_written, 8 * 2048);
}

}  // namespace
}  // namespace nkigrid::nkisim
