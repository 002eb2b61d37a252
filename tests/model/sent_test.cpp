#include <gtest/gtest.h>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "runner/model/sent.hpp"

namespace nkigrid::model {
namespace {

TEST(Sent, ARequestIsToldByTheOneBeforeAndComesBackByteForByte) {
  const std::vector<std::string> requests = {"",
                                             R"({"messages":[1],"model":"m"})",
                                             R"({"messages":[1,2],"model":"m"})",
                                             R"({"messages":[1,2,"é"],"model":"m"})",
                                             R"({"messages":[1,2,"è"],"model":"m"})",
                                             "x",
                                             "xx",
                                             ""};
  std::string before;
  for (const std::string& request : requests) {
    const Sent sent = sent_after(before, request);
    EXPECT_EQ(request_of(sent, before), request);
    EXPECT_EQ(to_valid_utf8(sent.text), sent.text);
    before = request;
  }
  EXPECT_EQ(sent_after(requests[1], requests[2]).text, ",2");
}

TEST(Sent, AnotherOneBeforeIsTold) {
  EXPECT_THROW(request_of({.front = 5, .back = 0, .text = ""}, "abc"), Error);
  EXPECT_THROW(request_of({.front = 2, .back = 2, .text = ""}, "abc"), Error);
}

}  // namespace
}  // namespace nkigrid::model
