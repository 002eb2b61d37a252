#include "cli/status_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace nkigrid::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A run at work, with a rate.
StatusReport at_work() {
  StatusReport report;
  report.run = "demo";
  report.episodes = 100;
  report.scored = 40;
  report.outstanding = 60;
  report.works = true;
  report.per_hour = 60;
  return report;
}

TEST(StatusReport, NobodyKnowsHowLongAnEndpointIsAway) {
  auto report = at_work();
  EXPECT_EQ(report.eta_seconds(), 3600);
  EXPECT_THAT(to_text(report), HasSubstr("to go at this rate"));
  report.endpoints = {{"qwen", "is away since 5 min"}};
  EXPECT_THAT(to_text(report), Not(HasSubstr("to go")));
  EXPECT_THAT(to_text(report), HasSubstr("the endpoint of model qwen is away since 5 min"));
  EXPECT_THAT(to_line(report), Not(HasSubstr("to go")));
  EXPECT_TRUE(nlohmann::json::parse(to_json(report)).at("eta_seconds").is_null());
  report.outstanding = 0;
  EXPECT_EQ(report.eta_seconds(), 0) << "nothing waits for it";
}

TEST(StatusReport, KilledIsSaidToBeNoVerdict) {
  auto report = at_work();
  EXPECT_THAT(to_text(report), Not(HasSubstr("killed")));
  report.reasons = {{"killed", 16}, {"pending", 44}};
  EXPECT_THAT(to_text(report),
              HasSubstr("outstanding: 16 killed, 44 pending\nkilled: begun and not ended, by a drain"));
}

TEST(StatusReport, AStopWhileSomethingWorksIsPerhapsGoingOn) {
  auto report = at_work();
  report.stopped_by = "SIGUSR1";
  EXPECT_THAT(to_text(report), HasSubstr("\na session was, or is being, stopped by SIGUSR1\n"));
  report.works = false;
  EXPECT_THAT(to_text(report), HasSubstr("\nstopped by SIGUSR1\n"));
}

}  // namespace
}  // namespace nkigrid::cli
