#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>

#include "fixture.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Grid, DefaultsAreThePapers) {
  const Sandbox box;
  const auto grid = load_grid(box.grid(), {});
  EXPECT_EQ(grid.name, "tiny");
  EXPECT_EQ(grid.seed, 11U);
  EXPECT_EQ(grid.check.compile_timeout, Seconds(120));
  EXPECT_EQ(grid.check.atol, 1e-3);
  EXPECT_EQ(grid.check.trials, 5U);
  EXPECT_TRUE(grid.check.strict_sandbox);
  EXPECT_EQ(name_of(grid.device.backend), "sim");
  EXPECT_EQ(grid.infra_retries, 5U);
  EXPECT_EQ(grid.mode("ss").turns, 1U);
  EXPECT_EQ(grid.mode("agent").turns, 4U);
  EXPECT_TRUE(grid.mode("agent").stop_on_pass);
  EXPECT_EQ(grid.prompt("plain").text, "Write an NKI kernel.\n");
  EXPECT_EQ(grid.slurm.time, Seconds(4 * 3600));
  EXPECT_EQ(grid.cells.size(), 4U);
  EXPECT_EQ(grid.cells[0].id, "weak.ss.careful");
  EXPECT_EQ(grid.cells[0].subset, "all-four");
  EXPECT_EQ(grid.cells[0].tasks.size(), 4U);
  EXPECT_EQ(grid.cells[0].replicates, 2U);
}

TEST(Grid, EveryProblemIsReportedAtOnceInFileOrder) {
  const Sandbox box;
  box.write("bad.yaml", R"(name: bad
benchmark: bench
tasks: all-for
replicats: 3
replicates: 010
seed: -1
seed: 5
check: {compile_timeout: 120, trials: 0, sandbox: off}
models:
  weak: {api: synthetic, profile: week}
  gpt:  {api: openai, temprature: 0.5}
  "bad name": {api: synthetic, profile: weak}
modes:
  ss: {kind: single-shoot}
  one: {kind: single-shot, turns: 2, nudge: again}
prompts: {plain: prompts/plane.md}
cells:
  - {model: [weak, strong], mode: [], prompt: plain}
  - {model: weak, mode: ss, prompt: plain, tasks: [L1/001_ad, "L9/*"]}
slurm: {mem: 64, time: 4}
)");
  const auto result = read_grid(box.path() / "bad.yaml", {});
  EXPECT_FALSE(result.grid);
  const auto in = " (looked in " + box.path().native() + ")";
  std::string kinds;
  for (const auto& row : mode_kinds()) kinds += (kinds.empty() ? "" : ", ") + std::string(row.name);
  EXPECT_THAT(
      lines_of(result),
      ElementsAre(
          "3:8 no subset 'all-for' in benchmark tiny-bench (did you mean 'all-four'?); ids and globs are "
          "written as a list, e.g. [L1/*]",
          "4:1 unknown key 'replicats' (did you mean 'replicates'?)",
          "5:13 replicates is '010' (a leading zero reads as octal; write it without)",
          "6:7 seed is '-1' (a whole number of at least 0 is wanted)",
          "7:1 duplicate key 'seed' (first at line 6); keep one",
          "8:26 check.compile_timeout is '120' (a duration with its unit is wanted: ms, s, min, h, d or "
          "HH:MM:SS, at most ten years); write e.g. 120 s",
          "8:39 check.trials is '0' (a whole number from 1 to 1000 is wanted)",
          "8:51 check.sandbox is 'off' (one of strict, relaxed is wanted)",
          "10:35 no profile 'week': profiles/week.yaml is missing (did you mean 'weak'?)" + in,
          "11:9 models.gpt.endpoint is missing",
          "11:23 unknown key 'temprature' in models.gpt (did you mean 'temperature'?)",
          "12:3 bad name 'bad name' in models (a letter or digit, then letters, digits, _ and -, at most 40); write "
          "'bad_name'",
          "14:14 modes.ss.kind is 'single-shoot' (one of " + kinds + " is wanted) (did you mean 'single-shot'?)",
          "15:35 modes.one.turns is '2' (an episode of kind single-shot is one turn); leave it out, or choose a kind "
          "with "
          "several",
          "15:38 modes.one.nudge means nothing for kind single-shot; leave it out",
          "16:18 no prompt file 'prompts/plane.md' (did you mean 'prompts/plain.md'?)" + in,
          "18:20 no model 'strong' in this grid",
          "18:35 cells[0].mode is an empty list (nothing would run); name at least one",
          "19:52 no task 'L1/001_ad' in benchmark tiny-bench (did you mean 'L1/001_add'?)",
          "19:63 no task matches 'L9/*' in benchmark tiny-bench",
          "20:14 slurm.mem is '64' (a size with its unit of at least 1 MiB, or `all`, is wanted); write e.g. "
          "64 GiB",
          "20:24 slurm.time is '4' (a duration with its unit is wanted: ms, s, min, h, d or HH:MM:SS, at most "
          "ten years); write "
          "e.g. 120 s"));
}

/// What sent people astray once, and what is said of it.
TEST(Grid, WordsLeadToTheSlip) {
  struct Slip {
    const char *what, *by, *said;
  };
  for (const auto& slip : {
           Slip{"strong: {api: synthetic", "strong: {api: synthetic, temperature: 0,7",
                "models.strong.temperature is '0,7' (a comma separates entries); write 0.7 with a decimal point"},
           Slip{"strong: {api: synthetic", "strong: {api: synthetic, temperature: 3",
                "models.strong.temperature is '3' (a number from 0 to 2 is wanted)"},
           Slip{"strong: {api: synthetic", "strong: {<<: x",
                "YAML's merge key '<<' is not read here; write the keys out"},
           Slip{"strong: {api: synthetic", "strong: {<api>: x", "'<api>' is a placeholder; write a name in its place"},
           Slip{"seed: 11", "seed: 11\ndevice: {target: trn2}", "device.target is 'trn2' (one of trn1 is wanted)"},
           Slip{"seed: 11", "seed: 11\ndevice: {target: tnr1}",
                "device.target is 'tnr1' (one of trn1 is wanted) (did you mean 'trn1'?)"},
           Slip{"benchmark: bench", "benchmark: bnech", "no benchmark 'bnech' (did you mean 'bench'?)"},
           Slip{"  strong: {", "  qwen2.5: {", "at most 40); write 'qwen2_5'"},
           Slip{"tasks: ", "tasks: [L1/001_add, L1/001_add]\n#", "tasks names 'L1/001_add' twice (first at line"},
           Slip{"seed: 11", "seed:", "seed is empty (a whole number of at least 0 is wanted)"},
       }) {
    const Sandbox box;
    const auto lines = lines_of(box.read_edited(slip.what, slip.by));
    ASSERT_FALSE(lines.empty()) << slip.by;
    EXPECT_THAT(lines, testing::Contains(testing::HasSubstr(slip.said))) << slip.by;
    if (std::string(slip.by).find("tnr1") == std::string::npos &&
        std::string(slip.by).find("bnech") == std::string::npos) {
      EXPECT_THAT(lines[0], testing::Not(testing::HasSubstr("did you mean"))) << slip.by;
    }
    EXPECT_THAT(lines, testing::Not(testing::Contains(testing::HasSubstr("api is missing")))) << slip.by;
  }
}

TEST(Grid, AGridThatIsShippedIsKnownByItsName) {
  const Sandbox box;
  const auto found = read_grid("grid.yaml", box.path());  // there is none in this folder
  ASSERT_TRUE(found.grid) << to_text(found.problems);
  EXPECT_EQ(found.grid->file, box.path() / "grid.yaml");
  EXPECT_THROW(read_grid("none.yaml", box.path()), Error);
}

TEST(Grid, DiagnosticsBelongToModesThatTellAModelAnything) {
  const Sandbox box;
  EXPECT_THAT(lines_of(box.read_edited("{kind: single-shot}", "{kind: single-shot, tools: {diagnostics: plain}}")),
              ElementsAre("11:30 modes.ss.tools means nothing for kind single-shot; leave it out"));
  const Sandbox other;
  EXPECT_THAT(lines_of(other.read_edited("turns: 4", "tools: {diagnostics: terse, speed: 1}")),
              ElementsAre("12:50 modes.agent.tools.diagnostics is 'terse' (one of explained, plain is wanted)",
                          "12:57 unknown key 'speed' in modes.agent.tools"));
}

/// What a mode says of its tools, read.
GridResult with_tools(const Sandbox& box, const std::string& tools) {
  box.write("pages/b.md", "two\n");
  box.write("pages/a/one.md", "one\nmore\n");
  box.write("pages/.hidden", "no\n");
  return box.read_edited("turns: 4", "turns: 4, tools: " + tools);
}

TEST(Grid, ToolsAreThePapersTwoUnlessAGridSaysWhich) {
  const Sandbox usual;
  EXPECT_EQ(load_grid(usual.grid(), {}).mode("agent").tools.offer, usual_tools());
  EXPECT_TRUE(load_grid(usual.grid(), {}).mode("ss").tools.offer.empty());
  const Sandbox box;
  const auto result =
      with_tools(box, "{offer: [read_docs, compile_kernel, profile_kernel, verify_kernel], docs: pages}");
  ASSERT_TRUE(result.grid) << to_text(result.problems);
  const auto& tools = result.grid->mode("agent").tools;
  EXPECT_THAT(tools.offer, ElementsAre(Tool::compile, Tool::verify, Tool::profile, Tool::read_docs));
  ASSERT_EQ(tools.pages.size(), 2u);
  EXPECT_EQ(tools.pages[0].name, "a/one.md");
  EXPECT_EQ(tools.pages[1].text, "two\n");
}

TEST(Grid, WhatIsWrongWithToolsIsTold) {
  const auto problems = [](const std::string& tools) {
    const Sandbox box;
    return to_text(with_tools(box, tools).problems);
  };
  EXPECT_THAT(problems("{offer: [compile_kernel, profile]}"), HasSubstr("unknown tool 'profile'"));
  EXPECT_THAT(problems("{offer: [verify_kernel]}"), HasSubstr("lacks compile_kernel"));
  EXPECT_THAT(problems("{offer: [compile_kernel, compile_kernel]}"), HasSubstr("twice"));
  EXPECT_THAT(problems("{offer: [compile_kernel, read_docs]}"), HasSubstr("tools.docs is missing"));
  EXPECT_THAT(problems("{docs: pages}"), HasSubstr("not offered"));
  EXPECT_THAT(problems("{offer: [compile_kernel, read_docs], docs: page}"), HasSubstr("no folder 'page'"));
  EXPECT_THAT(problems("{offer: [compile_kernel, read_docs], docs: grid.yaml}"), HasSubstr("no folder 'grid.yaml'"));
}

TEST(Grid, DocsAreRegularFilesOfTheirFolder) {
  const auto problems = [](const std::function<void(const std::filesystem::path&)>& spoil) {
    const Sandbox box;
    std::filesystem::create_directories(box.path() / "pages");
    spoil(box.path() / "pages");
    return to_text(with_tools(box, "{offer: [compile_kernel, read_docs], docs: pages}").problems);
  };
  EXPECT_EQ(problems([](const auto&) {}), "");
  EXPECT_THAT(problems([](const auto& pages) { std::filesystem::create_symlink("/etc/hostname", pages / "x"); }),
              HasSubstr("symbolic link"));
  EXPECT_THAT(problems([](const auto& pages) { std::filesystem::create_directory_symlink("/etc", pages / "etc"); }),
              HasSubstr("symbolic link"));
  EXPECT_THAT(problems([](const auto& pages) { ASSERT_EQ(::mkfifo((pages / "x").c_str(), 0600), 0); }),
              HasSubstr("a pipe, socket or device"));
  EXPECT_THAT(problems([](const auto& pages) { std::ofstream(pages / "x") << "\xff"; }), HasSubstr("is not UTF-8"));
  EXPECT_THAT(problems([](const auto& pages) { std::ofstream(pages / "x") << std::string((1 << 20) + 1, 'x'); }),
              HasSubstr("larger than 1 MiB"));
}

TEST(Grid, ProfilesAreTheSimulators) {
  const Sandbox box;
  box.edit("grid.yaml", "models:", "device: {backend: neuron}\nmodels:");
  EXPECT_THAT(to_text(with_tools(box, "{offer: [compile_kernel, profile_kernel]}").problems),
              HasSubstr("backend neuron estimates nothing"));
}

TEST(Grid, LoadThrowsAllProblemsWithFileLineAndColumn) {
  const Sandbox box;
  box.edit("grid.yaml", "replicates: 2", "replicates: two");
  box.edit("grid.yaml", "seed: 11", "sede: 11");
  try {
    load_grid(box.grid(), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::config);
    const auto file = box.grid().native();
    EXPECT_EQ(std::string(error.what()),
              file + ":5:13: replicates is 'two' (a whole number from 1 to 1000000 is wanted)\n" + file +
                  ":6:1: unknown key 'sede' (did you mean 'seed'?)");
  }
}

TEST(Grid, MissingSectionsAreNamed) {
  const Sandbox box;
  box.write("grid.yaml", "name: x\n");
  EXPECT_THAT(lines_of(read_grid(box.grid(), {})),
              ElementsAre("1:1 benchmark is missing", "1:1 models is missing", "1:1 modes is missing",
                          "1:1 prompts is missing", "1:1 cells is missing"));
  box.write("grid.yaml", "- a\n- b\n");
  EXPECT_THAT(lines_of(read_grid(box.grid(), {})), ElementsAre("1:1 the file is a list (a map of keys is wanted)"));
  box.write("grid.yaml", "");
  EXPECT_EQ(lines_of(read_grid(box.grid(), {})).size(), 1U);
}

TEST(Grid, AMissingFileIsAnIoError) {
  try {
    read_grid("/nonexistent/grid.yaml", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_STREQ(error.what(), "cannot open '/nonexistent/grid.yaml': No such file or directory");
  }
}

TEST(Grid, PathsAreLookedForBesideTheFileThenInConfigs) {
  const Sandbox box, configs;
  std::filesystem::remove_all(box.path() / "bench");
  std::filesystem::remove_all(box.path() / "profiles");
  configs.write("prompts/careful.md", "from configs\n");
  const auto grid = load_grid(box.grid(), configs.path());
  EXPECT_EQ(grid.benchmark.folder, configs.path() / "bench");
  EXPECT_EQ(std::get<Synthetic>(grid.model("weak").api).profile_file, configs.path() / "profiles/weak.yaml");
  EXPECT_EQ(grid.prompt("careful").text, "Write an NKI kernel. Store every element of the output.\n");
}

TEST(Grid, ABrokenBenchmarkDoesNotHideOtherProblems) {
  const Sandbox box;
  box.edit("grid.yaml", "benchmark: bench", "benchmark: bensch");
  EXPECT_THAT(
      lines_of(box.read_edited("seed: 11", "seed: x")),
      ElementsAre(HasSubstr("3:12 no benchmark 'bensch'"), "6:7 seed is 'x' (a whole number of at least 0 is wanted)"));
}

TEST(Grid, AnApiThatIsNoneIsRefusedWhereItStands) {
  const Sandbox box;
  box.edit("grid.yaml", "weak:   {api: synthetic, profile: weak}",
           "weak: {api: messages, model: claude-opus-4-8, max_tokens: 8192}");
  EXPECT_THAT(lines_of(read_grid(box.grid(), {})),
              ElementsAre(HasSubstr(
                  "8:15 models.weak.api is 'messages' (one of synthetic, openai, anthropic, bedrock, replay ")));
}

TEST(Grid, AnUnknownApiLeavesItsKeysUnjudged) {
  const Sandbox box;
  EXPECT_THAT(lines_of(box.read_edited("weak:   {api: synthetic, profile: weak}",
                                       "weak: {api: gemini, endpoint: e, profile: p, region: r, run: x}")),
              ElementsAre(HasSubstr("8:15 models.weak.api is 'gemini'")));
}

TEST(Grid, ModelsOfProvidersTakeWhatTheyNeed) {
  const Sandbox box;
  box.edit("grid.yaml", "weak:   {api: synthetic, profile: weak}",
           "weak: {api: anthropic, model: claude-x, max_tokens: 8192, body: {thinking: {type: enabled, "
           "budget_tokens: 2048}, n: [1, 2.5, true, null, \"1\"]}, headers: {Anthropic-Beta: ctx-1m, "
           "x-gateway: {env: GATE}}, price: {input: 5, output: 25, cache_read: 0.5, cache_write: 6.25}}");
  const auto result = box.read_edited("strong: {api: synthetic, profile: strong}",
                                      "strong: {api: bedrock, region: us-west-2, model: \"a.b-v1:0\", account: lab}");
  ASSERT_TRUE(result.grid) << to_text(result.problems);
  const auto& weak = result.grid->model("weak");
  const auto& remote = *remote_of(weak.api);
  EXPECT_EQ(remote.endpoint, "https://api.anthropic.com/v1");
  EXPECT_EQ(remote.body, R"({"n":[1,2.5,true,null,"1"],"thinking":{"budget_tokens":2048,"type":"enabled"}})");
  ASSERT_EQ(remote.headers.size(), 2U);
  EXPECT_EQ(remote.headers[0].name, "anthropic-beta");
  EXPECT_EQ(remote.headers[1].secret.value, "GATE");
  EXPECT_EQ(weak.price->cache_read_usd, 0.5);
  EXPECT_EQ(key_sources(weak.api).size(), 1U);
  const auto& strong = result.grid->model("strong");
  EXPECT_EQ(remote_of(strong.api)->endpoint, "https://bedrock-runtime.us-west-2.amazonaws.com");
  // What is written is read back equal, JSON included.
  box.write("again.yaml", to_yaml(*result.grid));
  const auto again = read_grid(box.path() / "again.yaml", {});
  ASSERT_TRUE(again.grid) << to_text(again.problems);
  EXPECT_EQ(to_yaml(*again.grid), to_yaml(*result.grid));
  EXPECT_EQ(remote_of(again.grid->model("weak").api)->body, remote.body);
  EXPECT_TRUE(remote_of(again.grid->model("weak").api)->headers == remote.headers);
}

TEST(Grid, WhatAProviderWantsIsAskedForBeforeTheNight) {
  const Sandbox box;
  EXPECT_THAT(lines_of(box.read_edited("weak:   {api: synthetic, profile: weak}", "weak: {api: anthropic, model: m}")),
              ElementsAre("8:9 models.weak.max_tokens is missing"));
  const Sandbox other;
  EXPECT_THAT(lines_of(other.read_edited("weak:   {api: synthetic, profile: weak}", "weak: {api: bedrock, model: m}")),
              ElementsAre("8:9 models.weak.region is missing"));
  const Sandbox third;
  EXPECT_THAT(lines_of(third.read_edited("weak:   {api: synthetic, profile: weak}", "weak: {api: replay, run: none}")),
              ElementsAre(HasSubstr("no run there: grid.yaml is missing")));
}

TEST(Grid, WhatIsAddedToRequestsHoldsNoKeyAndReplacesNothingOfTheClients) {
  for (const std::string more :
       {"body: {x: sk-proj-aPlainCanary0123456789}", "headers: {x-key: sk-proj-aPlainCanary0123456789}",
        "headers: {content-type: text/plain}", "body: text", "headers: [a]"}) {
    const Sandbox box;
    const auto result = box.read_edited("strong: {api: synthetic, profile: strong}",
                                        "strong: {api: openai, endpoint: \"http://h:1/v1\", " + more + "}");
    EXPECT_FALSE(result.grid) << more;
    EXPECT_EQ(to_text(result.problems).find("Canary"), std::string::npos) << to_text(result.problems);
  }
}

TEST(Grid, AHeaderThatProvesWhoAsksNeverStandsInClear) {
  for (const std::string name : {"x-gateway", "Helicone-Auth", "Authorization", "x-api-key", "api-key", "Cookie",
                                 "Proxy-Authorization", "X_Token", "Ocp-Apim-Subscription-Key", "x-client-secret"}) {
    const Sandbox box;
    const std::string model = "strong: {api: openai, endpoint: \"http://h:1/v1\", headers: {" + name + ": ";
    const auto plain = box.read_edited("strong: {api: synthetic, profile: strong}", model + "\"Bearer canary\"}}");
    EXPECT_FALSE(plain.grid) << name;
    EXPECT_THAT(to_text(plain.problems), testing::HasSubstr("{env: NAME}, {file: PATH} and {command: [word, ...]}"));
    EXPECT_THAT(to_text(plain.problems), testing::Not(testing::HasSubstr("canary")));
    const Sandbox other;
    EXPECT_TRUE(other.read_edited("strong: {api: synthetic, profile: strong}", model + "{env: GATE}}}").grid) << name;
  }
  const Sandbox box;
  EXPECT_TRUE(box.read_edited("strong: {api: synthetic, profile: strong}",
                              "strong: {api: openai, endpoint: \"http://h:1/v1\", headers: {x-keyboard: a, "
                              "http-referer: b, x-tokens: c}}")
                  .grid);
}

TEST(Grid, OpenAiModelsTakeEndpointKeyAndPrice) {
  const Sandbox box;
  const auto result = box.read_edited("strong: {api: synthetic, profile: strong}",
                                      "strong: {api: openai, endpoint: \"http://h:1/v1\", temperature: 0.7, "
                                      "concurrency: 32, key: {file: k/my.key}, "
                                      "price: {input: 5.0, output: 25.0}, budget: {usd: 3, wall: 2 h}}");
  ASSERT_TRUE(result.grid) << to_text(result.problems);
  const auto& model = result.grid->model("strong");
  const auto& remote = *remote_of(model.api);
  EXPECT_EQ(remote.model, "strong");
  EXPECT_EQ(model.temperature, 0.7);
  EXPECT_EQ(model.concurrency, 32U);
  EXPECT_EQ(remote.key.kind, KeySource::Kind::file);
  EXPECT_EQ(remote.key.value, (box.path() / "k/my.key").native());
  EXPECT_EQ(model.price->output_usd, 25.0);
  EXPECT_EQ(model.budget.wall, Seconds(7200));
}

TEST(Grid, NoMessageRepeatsAKeyThatStandsWhereItsSourceBelongs) {
  const std::string canary = "aPlainCanary0123456789";
  for (const std::string& key :
       {canary, "[" + canary + "]", "{env: " + canary + "-x}", "{env: [" + canary + "]}", "{command: " + canary + "}",
        "{env: sk-proj-" + canary + "}", "{file: sk-proj-" + canary + "}", "{command: [echo, sk-proj-" + canary + "]}",
        "{sk-proj-" + canary + ": x}", "{value: " + canary + "}"}) {
    const Sandbox box;
    const auto result = box.read_edited("strong: {api: synthetic, profile: strong}",
                                        "strong: {api: openai, endpoint: \"http://h:1/v1\", key: " + key + "}");
    EXPECT_FALSE(result.grid) << key;
    EXPECT_EQ(to_text(result.problems).find("Canary"), std::string::npos) << to_text(result.problems);
  }
  for (const std::string& url : {"http://user:" + canary + "@h/v1", "http://h/v1?key=" + canary}) {
    const Sandbox box;
    const auto result = box.read_edited("strong: {api: synthetic, profile: strong}",
                                        "strong: {api: openai, endpoint: \"" + url + "\"}");
    EXPECT_EQ(to_text(result.problems).find("Canary"), std::string::npos) << to_text(result.problems);
  }
}

TEST(Grid, KeysAndPricesAreWholeOrRefused) {
  const Sandbox box;
  const auto result =
      box.read_edited("strong: {api: synthetic, profile: strong}",
                      "strong: {api: openai, endpoint: ftp://h, key: {env: A, file: b}, price: {input: 1}}");
  EXPECT_THAT(lines_of(result), ElementsAre("9:35 models.strong.endpoint is 'ftp://h' (http:// or https:// is wanted)",
                                            "9:49 models.strong.key must have exactly one of env, file and command",
                                            "9:75 models.strong.price.output is missing"));
}

TEST(Grid, KeysOfAnotherApiMeanNothing) {
  const Sandbox box;
  EXPECT_THAT(lines_of(box.read_edited("profile: weak}", "profile: weak, endpoint: \"http://h\"}")),
              ElementsAre("8:43 models.weak.endpoint means nothing for api synthetic; leave it out"));
  const Sandbox other;
  EXPECT_THAT(lines_of(other.read_edited("strong: {api: synthetic, profile: strong}",
                                         "strong: {api: openai, endpoint: \"http://h\", profile: strong}")),
              ElementsAre("9:47 models.strong.profile means nothing for api openai; leave it out"));
}

/// One spoilt line: the grid is refused with these words, at a place.
void expect_refused(const std::string& by, const std::string& words) {
  Sandbox box;
  const auto result = box.read_edited("name: tiny", by);
  EXPECT_FALSE(result.grid) << by;
  ASSERT_FALSE(result.problems.empty()) << by;
  EXPECT_THAT(to_text(result.problems), testing::HasSubstr(words)) << by;
  EXPECT_GT(result.problems.front().line, 0U) << by;
}

TEST(Grid, WhatReachesTerminalsScriptsAndServersIsChecked) {
  expect_refused("name: \"a\\e[31mb\"", "control character");
  expect_refused("name: ..", "name is");
  expect_refused("name: tiny\nslurm: {extra: [\"--x\\nrm -rf y\"]}", "no sbatch option");
  expect_refused("name: tiny\nslurm: {extra: [rm]}", "no sbatch option");
  expect_refused("name: tiny\nslurm: {extra: [\"--array=0-3\"]}", "nkigrid sets --array on each job itself");
  expect_refused("name: tiny\nslurm: {extra: [\"--comment=x\"]}", "nkigrid sets --comment on each job itself");
  expect_refused("name: tiny\nslurm: {extra: [\"--outp=x\"]}", "nkigrid sets --output on each job itself");
  expect_refused("name: tiny\nslurm: {extra: [\"--output\\t/x\"]}", "no sbatch option");
  expect_refused("name: tiny\nslurm: {extra: [\"--hold=yes\"]}", "--hold takes no value");
  expect_refused("name: tiny\nslurm: {extra: [\"--nice 5\"]}", "write --nice=5");
  for (const char* nice : {"--nice=abc", "--nice=1x", "--nice 1.5", "--nice=", "--nice=4294967296",
                           "--nice=-2147483646", "--nice=-9223372036854775808"})
    expect_refused(fmt::format("name: tiny\nslurm: {{extra: [\"{}\"]}}", nice), "a whole number");
  expect_refused("name: tiny\nslurm: {time: 30 h, warn: 20 h}", "slurm.warn is 20 h (at most 65535 s");
  expect_refused("name: tiny\ndevice: {sdk: \"9.99\"}", "sdk");
  expect_refused("name: tiny\ncheck: {compile_timeout: 99999999999999999 d}", "at most ten years");
}

TEST(Grid, AnEndpointIsACompleteAddressWithoutSecrets) {
  for (const auto& [endpoint, words] :
       std::vector<std::pair<std::string, std::string>>{{"http://", "host is missing"},
                                                        {"http://h:99999/v1", "port"},
                                                        {"http://h:x/v1", "port"},
                                                        {"ftp://h/v1", "http://"},
                                                        {"http://u:p@h:1/v1", "use key:"},
                                                        {"http://h /v1", "blanks"},
                                                        {"http://h/v1?key=x", "query"}}) {
    Sandbox box;
    box.edit("grid.yaml", "models:", "models:\n  far: {api: openai, endpoint: \"" + endpoint + "\"}");
    EXPECT_THAT(to_text(read_grid(box.grid(), {}).problems), testing::HasSubstr(words)) << endpoint;
  }
  for (const char* endpoint :
       {"http://h/v1", "https://gpu01.site:8000/v1", "http://[::1]:8000/v1", "http://127.0.0.1:1"}) {
    Sandbox box;
    box.edit("grid.yaml", "models:", std::string("models:\n  far: {api: openai, endpoint: \"") + endpoint + "\"}");
    EXPECT_THAT(to_text(read_grid(box.grid(), {}).problems), testing::Not(testing::HasSubstr("endpoint"))) << endpoint;
  }
}

}  // namespace
}  // namespace nkigrid::jobs
