#include "jobs/grid/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nkigrid::jobs {
namespace {

TEST(Units, DurationsNeedAUnit) {
  EXPECT_EQ(parse_duration("120 s"), Seconds(120));
  EXPECT_EQ(parse_duration("15min"), Seconds(900));
  EXPECT_EQ(parse_duration("500 ms"), Seconds(0.5));
  EXPECT_EQ(parse_duration("1.5 h"), Seconds(5400));
  EXPECT_EQ(parse_duration("2 d"), Seconds(172800));
  for (const auto* bad :
       {"120", "", "s", "-5 s", "5 sec", "5 S", "1e3 s", "1 s s", "five s", "inf s", "nan s", " 5 s"}) {
    EXPECT_FALSE(parse_duration(bad)) << bad;
  }
}

TEST(Units, ClockFormsAreSlurms) {
  EXPECT_EQ(parse_duration("04:00:00"), Seconds(14400));
  EXPECT_EQ(parse_duration("1-02:03:04"), Seconds(86400 + 7384));
  EXPECT_EQ(parse_duration("100:00:00"), Seconds(360000));
  for (const auto* bad :
       {"04:00", "4:60:00", "4:00:60", "1-2-03:00:00", "04:00:00 s", "-04:00:00", ":00:00", "04::00"}) {
    EXPECT_FALSE(parse_duration(bad)) << bad;
  }
}

TEST(Units, FormattedDurationsReadBackExactly) {
  for (const double seconds : {0.001, 0.1, 0.25, 1.0, 59.9, 60.0, 90.0, 120.0, 3600.0, 14400.0, 86400.0, 1e9 / 3}) {
    EXPECT_EQ(parse_duration(format_duration(Seconds(seconds))), Seconds(seconds)) << format_duration(Seconds(seconds));
  }
  EXPECT_EQ(format_duration(Seconds(120)), "2 min");
  EXPECT_EQ(format_duration(Seconds(14400)), "4 h");
  EXPECT_EQ(format_duration(Seconds(90)), "90 s");
}

TEST(Units, SizesNeedAUnit) {
  EXPECT_EQ(parse_size_bytes("64 GiB"), std::uint64_t{64} << 30);
  EXPECT_EQ(parse_size_bytes("1.5 kB"), 1500U);
  EXPECT_EQ(parse_size_bytes("65536M"), std::uint64_t{64} << 30);
  for (const auto* bad : {"64", "64 gib", "64 GiB x", "", "-1 MB", "1e30 TB", "99999999999 TiB"})
    EXPECT_FALSE(parse_size_bytes(bad)) << bad;
}

}  // namespace
}  // namespace nkigrid::jobs
