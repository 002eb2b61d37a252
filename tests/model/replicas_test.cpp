#include "runner/model/servers/replicas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/base/files.hpp"
#include "runner/model/chat.hpp"
#include "runner/model/servers/kept_http.hpp"

namespace nkigrid::model {
namespace {

using testing::HasSubstr;
using State = log::ServerNote::State;

struct ReplicasTest : testing::Test {
  TemporaryDirectory folder;
  ManualClock clock;
  jobs::ServerSpec spec;

  ReplicasTest() { spec.replicas = 2; }
  Replicas make() { return {{folder.path(), "all"}, {"qwen", &spec}, clock}; }
  void note(std::uint32_t replica, State state, const std::string& text = "") {
    log::note_server(folder.path(), {"all", "qwen", replica},
                     {.state = state, .address = "http://h:" + std::to_string(replica), .job = "", .text = text});
    clock.advance(Seconds(2));
  }
};

TEST_F(ReplicasTest, TheLeastBusyOfThoseThatWork) {
  auto replicas = make();
  EXPECT_FALSE(replicas.take());
  EXPECT_THAT(replicas.trouble(), HasSubstr("the server of model 'qwen' has not begun"));
  note(0, State::healthy);
  note(1, State::starting);
  const auto first = replicas.take(), second = replicas.take();
  EXPECT_EQ(first->address, "http://h:0");
  EXPECT_EQ(second->address, "http://h:0");
  note(1, State::healthy);
  EXPECT_EQ(replicas.take()->replica, 1u);
  EXPECT_EQ(replicas.take()->replica, 1u);
  replicas.give_back(*first, true);
  EXPECT_EQ(replicas.take()->replica, 0u);
}

TEST_F(ReplicasTest, ProcessesThatSendOneAtATimeUseThemAll) {
  auto replicas = make();
  note(0, State::healthy);
  note(1, State::healthy);
  EXPECT_TRUE(replicas.settled());
  for (std::uint32_t i = 0; i < 6; ++i) {
    const auto place = *replicas.take();
    EXPECT_EQ(place.replica, i % 2);
    replicas.give_back(place, true);
  }
}

TEST_F(ReplicasTest, OneThatFailedARequestIsTriedLastForAWhile) {
  auto replicas = make();
  note(0, State::healthy);
  note(1, State::healthy);
  const auto bad = *replicas.take();
  EXPECT_EQ(bad.replica, 0u);
  replicas.give_back(bad, false);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(replicas.take()->replica, 1u);
  clock.advance(Seconds(6));
  EXPECT_EQ(replicas.take()->replica, 0u);
  note(1, State::starting, "died");
  EXPECT_EQ(replicas.take()->replica, 0u) << "the only one that works";
}

TEST_F(ReplicasTest, LostIsWhatWillNotComeBack) {
  auto replicas = make();
  note(0, State::failed, "died twice");
  EXPECT_FALSE(replicas.lost()) << "the other has not begun";
  note(1, State::ended, "was told to end");
  EXPECT_TRUE(replicas.lost());
  EXPECT_FALSE(replicas.failed());
  EXPECT_EQ(replicas.trouble(), "the server of model 'qwen' died twice");
  note(1, State::failed);
  EXPECT_TRUE(replicas.failed());
}

TEST_F(ReplicasTest, ANoteThatCannotBeReadIsNone) {
  auto replicas = make();
  note(0, State::healthy);
  write_file_atomic(log::server_file(folder.path(), {"all", "qwen", 0}, ".json"), "{\"state\": \"heal");
  clock.advance(Seconds(2));
  EXPECT_FALSE(replicas.take());
}

/// Answers 200 from whom it was asked.
class Echo final : public HttpClient {
 public:
  HttpAnswer post(const HttpRequest& request, const HttpOptions& options, const std::stop_token&) override {
    HttpAnswer answer;
    answer.transport = transport;
    answer.status = 200;
    answer.body = request.url;
    direct = options.direct;
    return answer;
  }
  HttpAnswer get(const HttpRequest& request, const HttpOptions& options, const std::stop_token& stop) override {
    return post(request, options, stop);
  }
  static inline Transport transport = Transport::answered;
  static inline bool direct = false;
};

TEST_F(ReplicasTest, RequestsGoWhereTheServerIs) {
  const auto replicas =
      std::make_shared<Replicas>(ServerPlaces{folder.path(), "all"}, jobs::KeptServer{"qwen", &spec}, clock);
  const auto base = jobs::kept_server_url("qwen");
  const auto http = make_kept_http(std::make_unique<Echo>(), replicas, base);
  const HttpRequest request{.url = base + "/v1/chat/completions", .headers = {}, .body = {}};
  EXPECT_EQ(http->post(request, {}, {}).transport, Transport::broken) << "asked again, as after a cut line";
  note(0, State::healthy);
  note(1, State::failed, "died twice");
  EXPECT_EQ(http->post(request, {}, {}).body, "http://h:0/v1/chat/completions");
  EXPECT_TRUE(Echo::direct) << "no proxy stands before a server of ours";
  Echo::transport = Transport::unreachable;
  EXPECT_EQ(http->post(request, {}, {}).transport, Transport::broken) << "its address was right a moment ago";
  Echo::transport = Transport::answered;
  note(0, State::failed, "died twice");
  EXPECT_THROW(http->post(request, {}, {}), ChatError);
}

}  // namespace
}  // namespace nkigrid::model
