#include "runner/model/key_mask.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nkigrid::model {
namespace {

const std::string kCanary = "sk-proj-CANARY/7+Q~x=9zABCDEFGH";

TEST(KeyMask, HidesAKeyInEachFormThatItTravelsIn) {
  // python3: urllib.parse.quote(k, safe=""), base64.b64encode(b"us"[:n] + k), base64.urlsafe_b64encode(...)
  const std::vector<std::string> forms = {kCanary,
                                          "sk-proj-CANARY%2F7%2BQ~x%3D9zABCDEFGH",
                                          "sk-proj-CANARY%2f7%2bQ~x%3d9zABCDEFGH",
                                          "%73%6B%2D%70%72%6F%6A%2D%43%41%4E%41%52%59%2F%37"
                                          "%2B%51%7E%78%3D%39%7A%41%42%43%44%45%46%47%48",
                                          R"(sk-proj-CANARY\/7+Q~x=9zABCDEFGH)",
                                          "c2stcHJvai1DQU5BUlkvNytRfng9OXpBQkNERUZHSA==",
                                          "c2stcHJvai1DQU5BUlkvNytRfng9OXpBQkNERUZHSA",
                                          "sk-proj-CANARY",
                                          "sk-proj-",
                                          "sk-proj-********EFGH",
                                          "c2stcHJvai1DQU5BUl"};
  const KeyMask mask(kCanary);
  for (const auto& form : forms)
    EXPECT_EQ(mask.hide("key '" + form + "' and " + form + "\n"), "key '[key]' and [key]\n") << form;
  // Behind one or two bytes of something else the first characters of base64 are not the key's alone.
  EXPECT_EQ(mask.hide("dXNrLXByb2otQ0FOQVJZLzcrUX54PTl6QUJDREVGR0g="), "dX[key]");
  EXPECT_EQ(mask.hide("dXNzay1wcm9qLUNBTkFSWS83K1F+eD05ekFCQ0RFRkdI"), "dXN[key]");
  EXPECT_EQ(mask.hide("dXNzay1wcm9qLUNBTkFSWS83K1F-eD05ekFCQ0RFRkdI"), "dXN[key]");
}

TEST(KeyMask, LeavesEverythingElse) {
  const KeyMask mask(kCanary);
  for (const std::string text : {"", "sk-pro", "a kernel (sk) of the project", "base64: c2stcH"})
    EXPECT_EQ(mask.hide(text), text);
  EXPECT_EQ(KeyMask().hide(kCanary), kCanary);
}

TEST(KeyMask, AShortKeyIsAPlaceholderAndAMiddlingOneIsHiddenWhole) {
  EXPECT_EQ(KeyMask("EMPTY").hide("an EMPTY tile"), "an EMPTY tile");
  const KeyMask mask("local-server-1");
  EXPECT_EQ(mask.hide("local-server-1, local-server-2"), "[key], local-server-2");
}

TEST(KeyMask, HidesWhatJsonSpellsWithEscapes) {
  const KeyMask mask(kCanary);
  EXPECT_EQ(mask.hide(R"({"a":["\u0073k-proj-CANARY\/7+Q~x=9zABCDEFGH"],"n":1.5})"), R"({"a":["[key]"],"n":1.5})");
  EXPECT_EQ(mask.hide(R"({"\u0073k-proj-CANARY":1})"), R"({"[key]":1})");
  EXPECT_EQ(mask.hide(R"("{\"a\":\"\\u0073k-proj-CANARY\\/7+Q~x=9zABCDEFGH\"}")"), R"("{\"a\":\"[key]\"}")");
  const std::string innocent = R"({"b": "\u00e9t\u00e9 \/", "a":1e0})";
  EXPECT_EQ(mask.hide(innocent), innocent) << "what holds no key keeps its bytes";
  EXPECT_EQ(mask.hide(R"(<p>no JSON: sk-proj-CANARY\u002f</p>)"), "<p>no JSON: [key]</p>");
}

TEST(KeyMask, FormsThatLieOverOneAnotherAreOnePlace) {
  KeyMask mask("key-of-one-server-aaaa");
  mask.add("one-server-aaaa-and-more-of-it");
  EXPECT_EQ(mask.hide("a key-of-one-server-aaaa-and-more-of-it b"), "a [key] b");
  EXPECT_EQ(mask.hide("%6bey-of-one-server-aaaa, one-server-aaaa-and-more-of-it\\u0021"), "[key], [key]\\u0021");
}

TEST(KeyMask, OfSeveralHidesEach) {
  KeyMask mask(kCanary);
  mask.add(KeyMask("another-key-of-another-server"));
  EXPECT_EQ(mask.hide("another-key-of-another-server " + kCanary), "[key] [key]");
}

}  // namespace
}  // namespace nkigrid::model
