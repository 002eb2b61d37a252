#include <gtest/gtest.h>

#include "runner/model/wire/sigv4.hpp"

namespace nkigrid::model {
namespace {

const AwsCredentials kExample = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
constexpr double kThen = 1440938160;  // 20150830T123600Z

std::string signature_of(const std::vector<HeaderLine>& headers) {
  const std::string& value = headers.back().value;
  return value.substr(value.rfind('=') + 1);
}

TEST(SigV4, MeetsThePublishedExamples) {
  // AWS's Signature Version 4 test suite: requests, names and signatures as published.
  struct Example {
    const char *name, *method, *path, *signature;
    HeaderLine header = {};
    const char* body = "";
  };
  const Example examples[] = {
      {"get-vanilla", "GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-utf8", "GET", "/\xe1\x88\xb4", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
      {"get-vanilla-query-order-key-case", "GET", "/?Param2=value2&Param1=value1",
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"post-vanilla", "POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {"post-x-www-form-urlencoded",
       "POST",
       "/",
       "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
       {"content-type", "application/x-www-form-urlencoded"},
       "Param1=value1"},
  };
  for (const Example& example : examples) {
    HttpRequest request{std::string("https://example.amazonaws.com") + example.path, {}, example.body};
    if (!example.header.name.empty()) request.headers.push_back(example.header);
    const auto headers = signature_v4(example.method, request, kExample, {"us-east-1", "service"}, kThen);
    EXPECT_EQ(headers.front().value, "20150830T123600Z");
    EXPECT_EQ(signature_of(headers), example.signature) << example.name;
    EXPECT_TRUE(headers.back().value.starts_with(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders="));
  }
}

TEST(SigV4, ATemporaryKeysTokenIsSigned) {
  // The suite's post-sts-header-before.
  AwsCredentials temporary = kExample;
  temporary.session_token =
      "AQoDYXdzEPT//////////"
      "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwth"
      "Ax7mSEI/qkPpKPi/"
      "kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAk"
      "iY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";
  const HttpRequest request{"https://example.amazonaws.com/", {}, ""};
  const auto headers = signature_v4("POST", request, temporary, {"us-east-1", "service"}, kThen);
  EXPECT_EQ(headers[1].name, "x-amz-security-token");
  EXPECT_EQ(signature_of(headers), "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead");
}

TEST(SigV4, APathIsEncodedOnceMore) {
  // botocore 1.29.27, SigV4Auth at 2026-11-30 12:34:56 UTC, with and without a session token.
  constexpr double kLater = 1796042096;
  const std::string model = "https://bedrock-runtime.us-west-2.amazonaws.com/model/";
  AwsCredentials temporary = kExample;
  temporary.session_token = "c2Vzc2lvbg==";
  const struct {
    std::string path;
    AwsCredentials credentials;
    const char* signature;
  } cases[] = {
      {"anthropic.claude-3-5-sonnet-20241022-v2%3A0", kExample,
       "231128c67f789f307a5df73364d1a77e266c3c8c9453f31ca842fd4036c55de8"},
      {"arn%3Aaws%3Abedrock%3Aus-west-2%3A1234%3Ainference-profile%2Fx", kExample,
       "b4216b48b4f1844b2cbf57960156322eeb42a69a58d153e0a9305a1a3e9a7c7a"},
      {"anthropic.claude-3-5-sonnet-20241022-v2%3A0", temporary,
       "730301062035236763eca603dba991eff43e647019da6deef82bb812c54bf3e0"},
      {"arn%3Aaws%3Abedrock%3Aus-west-2%3A1234%3Ainference-profile%2Fx", temporary,
       "b4d60b928c1fd2a6d98eb378a9c0f90019fbda855d44a4005a10e47ce5f9b11e"},
  };
  for (const auto& one : cases) {
    const HttpRequest request{model + one.path + "/converse", {{"content-type", "application/json"}}, R"({"a":1})"};
    const auto headers = signature_v4("POST", request, one.credentials, {"us-west-2", "bedrock"}, kLater);
    EXPECT_EQ(headers.front().value, "20261130T123456Z");
    EXPECT_EQ(signature_of(headers), one.signature) << one.path;
  }
}

TEST(SigV4, PercentEncodingKeepsWhatIsUnreserved) {
  EXPECT_EQ(percent_encoded("a-._~Z9"), "a-._~Z9");
  EXPECT_EQ(percent_encoded("v2:0/x y"), "v2%3A0%2Fx%20y");
  EXPECT_EQ(percent_encoded("/a%3A", "/"), "/a%253A");
}

}  // namespace
}  // namespace nkigrid::model
