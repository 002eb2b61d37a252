#include "runner/model/json_writer.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runner/model/chat.hpp"
#include "runner/model/wire/request.hpp"

namespace nkigrid::model {
namespace {

std::string literal(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonWriter, AStringHasTheBytesOfDump) {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all += static_cast<char>(c);
  for (const std::string& text : {all, std::string(), std::string("größe 𝄞 \xe2\x80\xa8 \\\" \x7f\n")})
    EXPECT_EQ(literal(text), nlohmann::json(text).dump());
}

TEST(JsonWriter, IllFormedBytesBecomeReplacements) {
  EXPECT_EQ(literal("a\xff\"\xf0\x9f"), "\"a\ufffd\\\"\ufffd\ufffd\"");
}

TEST(JsonWriter, AnObjectHasTheBytesOfDump) {
  std::string out;
  JsonObject json(out);
  json.number("a", 18446744073709551615ULL).raw("b", "[1]").text("c\n", "\t");
  json.begin("d");
  JsonObject(out).end();
  json.end();
  EXPECT_EQ(out,
            (nlohmann::json{{"a", 18446744073709551615ULL}, {"b", {1}}, {"c\n", "\t"}, {"d", nlohmann::json::object()}})
                .dump());
}

std::string posted(nlohmann::json body, const std::string& grids = "") {
  jobs::Remote remote{.endpoint = "http://h"};
  remote.body = grids;
  return post_json(remote, "/x", std::move(body), {"messages", "[1,2]"}).body;
}

TEST(JsonWriter, AWrittenKeyOfABodyStandsInItsPlace) {
  EXPECT_EQ(posted(nlohmann::json::object()), R"({"messages":[1,2]})");
  EXPECT_EQ(posted({{"a", 1}}), R"({"a":1,"messages":[1,2]})");
  EXPECT_EQ(posted({{"a", 1}, {"z", "\"messages\":null"}}), R"({"a":1,"messages":[1,2],"z":"\"messages\":null"})");
  EXPECT_EQ(posted({{"z", 1}}, R"({"messages": 3, "b": {"messages": null}})"),
            R"({"b":{"messages":null},"messages":3,"z":1})");
}

}  // namespace
}  // namespace nkigrid::model
