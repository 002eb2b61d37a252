#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "fixture.hpp"
#include "jobs/own_run.hpp"

namespace nkigrid::jobs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsSupersetOf;
using testing::StartsWith;

std::vector<std::string> problems_of_device(const std::string& device) {
  const Sandbox box;
  return lines_of(box.read_edited("seed: 11", "device: " + device));
}

/// The device as read, after it was written and read again.
DeviceSpec through_text(const Sandbox& box, const std::string& device) {
  box.edit("grid.yaml", "seed: 11", "device: " + device);
  const auto text = to_yaml(load_grid(box.grid(), {}));
  box.write("elsewhere/again.yaml", text);
  const auto again = load_grid(box.path() / "elsewhere/again.yaml", box.path());
  EXPECT_EQ(to_yaml(again), text);
  return again.device;
}

TEST(GridDevice, EveryBackendIsFoundByItsNameAlone) {
  std::set<std::string_view> names;
  for (const auto& backend : all_backends()) {
    EXPECT_TRUE(names.insert(name_of(backend)).second) << name_of(backend);
    EXPECT_EQ(backend_named(name_of(backend)).index(), backend.index());
  }
  EXPECT_THAT(names, IsSupersetOf({"sim", "neuron", "command"}));
  EXPECT_EQ(name_of(DeviceSpec{}.backend), "sim") << "the default";
}

TEST(GridDevice, StrictIsTheSimulatorsAndReadsBack) {
  const Sandbox box;
  EXPECT_EQ(through_text(box, "{strict: \"2.24\"}").nki.strict, "2.24");
  EXPECT_EQ(DeviceSpec{}.nki.strict, "");
  EXPECT_THAT(
      problems_of_device("{backend: neuron, strict: \"2.24\"}"),
      ElementsAre(EndsWith("device.strict means nothing for backend neuron (it belongs to sim); leave it out")));
  EXPECT_THAT(problems_of_device("{strict: \"2.23\"}"), ElementsAre(EndsWith("(one of 2.24 is wanted)")));
}

TEST(GridDevice, NeuronFindsItsPartsItselfWhenNoneAreNamed) {
  const Sandbox box;
  const auto device = through_text(box, "{backend: neuron}");
  ASSERT_EQ(name_of(device.backend), "neuron");
  const auto& neuron = std::get<NeuronSpec>(device.backend);
  EXPECT_EQ(neuron.python, "auto");
  EXPECT_EQ(neuron.libnrt, "auto");
  EXPECT_TRUE(neuron.cores.empty());
  EXPECT_TRUE(neuron.compiler_flags.empty());
}

TEST(GridDevice, NeuronKeepsWhatIsNamed) {
  const Sandbox box;
  const auto device =
      through_text(box,
                   "{backend: neuron, python: /opt/venv/bin/python3, libnrt: /opt/lib/libnrt.so.1, cores: [3, 0], "
                   "compiler_flags: [\"-O1\", \"--opt=a b, c\"]}");
  const auto& neuron = std::get<NeuronSpec>(device.backend);
  EXPECT_EQ(neuron.python, "/opt/venv/bin/python3");
  EXPECT_EQ(neuron.libnrt, "/opt/lib/libnrt.so.1");
  EXPECT_THAT(neuron.cores, ElementsAre(3U, 0U));
  EXPECT_THAT(neuron.compiler_flags, ElementsAre("-O1", "--opt=a b, c"));
}

TEST(GridDevice, CommandWordsThatNameFilesBesideTheGridBecomeAbsolute) {
  const Sandbox box;
  box.write("tools/cc.py", "");
  const auto device = through_text(box,
                                   "{backend: command, name: \"cc 1.0\", compile: [python3, ./tools/cc.py, -x, a/b], "
                                   "verify: [./tools/cc.py, \"\"]}");
  const auto tool = (box.path() / "tools/cc.py").native();
  const auto& command = std::get<CommandSpec>(device.backend);
  EXPECT_EQ(command.name, "cc 1.0");
  EXPECT_THAT(command.compile, ElementsAre("python3", tool, "-x", "a/b"));
  EXPECT_THAT(command.verify, ElementsAre(tool, ""));
}

TEST(GridDevice, ItsProgramsAreRightsThatAnAuditUses) {
  Sandbox box;
  box.edit("grid.yaml", "seed: 11", "device: {backend: command, name: n, compile: [cc, -x], verify: [rr]}");
  box.edit("grid.yaml", "strong: {api: synthetic, profile: strong}",
           "strong: {api: openai, endpoint: \"http://a/v1\", model: m, key: {env: MINE}}");
  const auto grid = load_grid(box.grid(), {});
  EXPECT_THAT(rights_of(grid, UsedPart::device), ElementsAre("starts cc -x", "starts rr"));
  EXPECT_THAT(rights_of(grid), ElementsAre("starts cc -x", "starts rr", "sends $MINE to http://a/v1"));
  const auto of_device = [&](const std::string& device) {
    box.edit("grid.yaml", "device: {backend: command, name: n, compile: [cc, -x], verify: [rr]}", "device: " + device);
    auto rights = rights_of(load_grid(box.grid(), {}), UsedPart::device);
    box.edit("grid.yaml", "device: " + device, "device: {backend: command, name: n, compile: [cc, -x], verify: [rr]}");
    return rights;
  };
  EXPECT_THAT(of_device("{backend: neuron, python: /a/python, libnrt: /a/libnrt.so}"),
              ElementsAre("starts /a/python", "loads /a/libnrt.so"));
  EXPECT_THAT(of_device("{backend: neuron}"), testing::IsEmpty()) << "what this machine has is no stranger's choice";
  EXPECT_THAT(of_device("{backend: sim}"), testing::IsEmpty());
}

TEST(GridDevice, AKeyOfAnotherBackendIsRefusedWithItsOwner) {
  EXPECT_THAT(problems_of_device("{backend: sim, cores: [0]}"),
              ElementsAre("6:24 device.cores means nothing for backend sim (it belongs to neuron); leave it out"));
  EXPECT_THAT(
      problems_of_device("{backend: neuron, compile: [x]}"),
      ElementsAre("6:27 device.compile means nothing for backend neuron (it belongs to command); leave it out"));
  EXPECT_THAT(problems_of_device("{backend: command, name: n, compile: [x], verify: [x], libnrt: auto}"),
              ElementsAre("6:64 device.libnrt means nothing for backend command (it belongs to neuron); leave it out"));
  EXPECT_THAT(problems_of_device("{backend: neurn, cores: [0]}"),
              ElementsAre(AllOf(StartsWith("6:19 device.backend is 'neurn' (one of sim, neuron, command"),
                                EndsWith(" is wanted) (did you mean 'neuron'?)"))));
}

TEST(GridDevice, NeuronValuesAreCheckedWhereTheyStand) {
  EXPECT_THAT(problems_of_device("{backend: neuron, python: venv/python3}"),
              ElementsAre("6:35 device.python is 'venv/python3' (an absolute path, or auto, is wanted)"));
  EXPECT_THAT(problems_of_device("{backend: neuron, cores: [0, -1, 2, 0]}"),
              ElementsAre("6:38 device.cores is '-1' (a whole number of at least 0 is wanted)",
                          "6:45 device.cores names core 0 twice; name each once"));
  EXPECT_THAT(problems_of_device("{backend: neuron, cores: 2}"),
              ElementsAre("6:34 device.cores is '2' (auto, or a list of core numbers, is wanted); write e.g. [0, 1]"));
  EXPECT_THAT(
      problems_of_device("{backend: neuron, cores: []}"),
      ElementsAre(
          "6:34 device.cores is an empty list (auto, or a list of core numbers, is wanted); write e.g. [0, 1]"));
  EXPECT_THAT(problems_of_device("{backend: neuron, compiler_flags: -O1}"),
              ElementsAre("6:43 device.compiler_flags is '-O1' (a list of words is wanted); write e.g. [\"-O1\"]"));
}

TEST(GridDevice, CommandValuesAreCheckedWhereTheyStand) {
  EXPECT_THAT(
      problems_of_device("{backend: command}"),
      ElementsAre("6:9 device.name is missing", "6:9 device.compile is missing", "6:9 device.verify is missing"));
  EXPECT_THAT(problems_of_device("{backend: command, name: n, compile: python3 cc.py, verify: [x]}"),
              ElementsAre("6:46 device.compile is 'python3 cc.py' (a list of words is wanted); write e.g. "
                          "[/usr/bin/python3, ./site_compile.py]"));
  EXPECT_THAT(problems_of_device("{backend: command, name: n, compile: [bin/cc], verify: []}"),
              ElementsAre("6:47 device.compile begins with 'bin/cc' (the name of a program on PATH, an absolute path, "
                          "or one that begins with ./ is wanted)",
                          "6:64 device.verify is an empty list (nothing would run); name at least one"));
  EXPECT_THAT(
      problems_of_device("{backend: command, name: \"\", compile: [x], verify: [x]}"),
      ElementsAre("6:34 device.name has 0 bytes (one line of 1 to 100 is wanted: what compiles, and its version)"));
  const Sandbox box;
  const auto missing = (box.path() / "cc.py").native();
  EXPECT_THAT(lines_of(box.read_edited(
                  "seed: 11", "device: {backend: command, name: n, compile: [python3, ./cc.py], verify: [x]}")),
              ElementsAre("6:56 device.compile names './cc.py' (there is no file '" + missing + "')"));
}

}  // namespace
}  // namespace nkigrid::jobs
