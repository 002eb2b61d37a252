#include "slurm/array_text.hpp"

#include <gtest/gtest.h>

namespace nkigrid::slurm {
namespace {

TEST(ArrayText, WritesRangesAndTheThrottle) {
  EXPECT_EQ(array_text({0, 1, 2, 5, 7, 8}, 0), "0-2,5,7-8");
  EXPECT_EQ(array_text({3}, 2), "3%2");
}

TEST(ArrayText, IsReadBack) {
  const std::vector<std::uint32_t> elements = {0, 1, 2, 5, 7, 8};
  EXPECT_EQ(parse_elements(array_text(elements, 4)), elements);
  EXPECT_EQ(count_elements("0-2,5,7-8%4"), 6u);
  EXPECT_EQ(count_elements("0-9999"), 10000u);
  EXPECT_EQ(throttle_of("0-2%4"), 4u);
  EXPECT_EQ(throttle_of("0-2"), 0u);
  EXPECT_TRUE(parse_elements("").empty());
  EXPECT_EQ(parse_elements("3,x,5"), std::vector<std::uint32_t>{3});
  EXPECT_TRUE(parse_elements("0-4294967295").empty()) << "no array is so long";
}

}  // namespace
}  // namespace nkigrid::slurm
