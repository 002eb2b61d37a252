#include "runner/device/neuron/vendor_compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "jobs/base/error.hpp"
#include "runner/device/neuron/node.hpp"
#include "runner/device/neuron/nrt.hpp"
#include "runner/device/neuron/status.hpp"
#include "tests/device/neuron/fake_node.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class Act>
std::string refused(ErrorCode code, Act act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(NeuronPlatform, VersionsOfTheCompilerBelongToSdks) {
  EXPECT_EQ(sdk_of("2.19.8089.0"), "2.24");
  EXPECT_EQ(sdk_of("2.20.9961.0"), "2.25");
  EXPECT_EQ(sdk_of("2.21.33363.0"), "2.26");
  EXPECT_EQ(sdk_of("2.22.12471.0"), "2.27");
  EXPECT_EQ(sdk_of("3.0"), "");
  EXPECT_EQ(sdk_of("2.x"), "");
}

TEST(NeuronPlatform, CompilersThatCannotBeDrivenAreRefusedWithTheReason) {
  EXPECT_EQ(compiler_fault("2.19.8089.0", "2.19.8089.0+b1", "", "2.24"), "");
  EXPECT_THAT(compiler_fault("2.23.6484.0", "", "0.2.0", "2.24"),
              AllOf(HasSubstr("zeros without an error"), HasSubstr("with nki 0.2.0")));
  EXPECT_THAT(compiler_fault("2.21.33363.0", "", "", "2.24"),
              HasSubstr("belongs to SDK 2.26, the grid says sdk \"2.24\""));
  EXPECT_THAT(compiler_fault("", "2.19.8089.0+nkisim", "", "2.24"), HasSubstr("nkigrid's own simulator"));
  EXPECT_THAT(compiler_fault("1.0", "1.0", "", "2.24"), HasSubstr("SDK (unknown)"));
}

TEST(NeuronPlatform, OurOwnPackageNeverAnswersForTheVendors) {
  FakeNode node;
  node.write_python(std::string(NKIGRID_BUILD_DIR) + "/nkisim");
  EXPECT_THAT(refused(ErrorCode::config, [&] { node.backend(); }), HasSubstr("nkigrid's own simulator"));
  ::setenv("PYTHONPATH", NKIGRID_BUILD_DIR "/nkisim", 1);
  node.spec.python = "/usr/bin/python3";
  EXPECT_THAT(refused(ErrorCode::external, [&] { node.backend(); }), HasSubstr("has no neuronx-cc"));
  ::unsetenv("PYTHONPATH");
}

TEST(NeuronPlatform, WhatIsNotThereIsSaidWithWhatToDo) {
  FakeNode node;
  node.spec.python = "auto";
  EXPECT_THAT(refused(ErrorCode::external, [&] { node.backend(); }),
              HasSubstr("no Neuron virtual environment on this machine"));
  fs::create_directories(node.path("opt/aws_neuronx_venv_pytorch_2_7/bin"));
  fs::copy(node.path("python"), node.path("opt/aws_neuronx_venv_pytorch_2_7/bin/python"));
  EXPECT_EQ(find_neuron_compiler(node.spec, node.options.sdk, test_paths().libexec, node.roots).version, "2.19.8089.0");
  node.spec.libnrt = "auto";
  EXPECT_THAT(refused(ErrorCode::external, [&] { node.backend(); }), HasSubstr("install aws-neuronx-runtime-lib"));
  node.spec.cores.clear();
  fs::remove(node.path("dev/neuron0"));
  EXPECT_THAT(refused(ErrorCode::external, [&] { node.backend(); }), HasSubstr("no NeuronCore on this machine"));
  node.options.sdk = "2.26";
  EXPECT_THAT(refused(ErrorCode::config, [&] { node.backend(); }),
              HasSubstr("belongs to SDK 2.24, the grid says sdk \"2.26\""));
}

TEST(NeuronPlatform, DoctorsWordsNameWhatIsThereAndWhatLacks) {
  FakeNode node;
  EXPECT_THAT(describe_parts(node.spec, node.setup(), node.roots),
              AllOf(HasSubstr("neuronx-cc 2.19.8089.0 (SDK 2.24)"), HasSubstr("imported in"), HasSubstr("libnrt.so.1"),
                    HasSubstr("1 NeuronCores by the grid's device.cores")));
  node.spec.libnrt = "auto";
  EXPECT_THAT(refused(ErrorCode::external, [&] { describe_parts(node.spec, node.setup(), node.roots); }),
              AllOf(HasSubstr("neuronx-cc 2.19.8089.0"), HasSubstr("install aws-neuronx-runtime-lib")));
}

TEST(NeuronPlatform, CoresAreFoundInOrderOfTrust) {
  FakeNode node;
  node.spec.cores.clear();
  EXPECT_THAT(find_neuron_devices(node.spec, node.options.target, node.roots).cores, ElementsAre(0, 1))
      << "one device file, two cores";
  fs::create_directories(node.path("sys/devices/virtual/dmi/id"));
  std::ofstream(node.path("sys/devices/virtual/dmi/id/product_name")) << "trn1.32xlarge\n";
  auto found = find_neuron_devices(node.spec, node.options.target, node.roots);
  EXPECT_EQ(found.cores.size(), 32U);
  EXPECT_EQ(found.how, "instance type trn1.32xlarge");
  fs::create_directories(node.path("opt/aws/neuron/bin"));
  std::ofstream(node.path("opt/aws/neuron/bin/neuron-ls"))
      << "#!/bin/sh\n[ \"$1\" = --json-output ] || exit 1\n"
         "echo '[{\"neuron_device\": 0, \"nc_count\": 2, \"neuroncore_ids\": [0, 1]}, {\"neuron_device\": 1, "
         "\"nc_count\": 2, \"neuroncore_ids\": [2, 3]}]'\n";
  fs::permissions(node.path("opt/aws/neuron/bin/neuron-ls"), fs::perms::owner_all);
  found = find_neuron_devices(node.spec, node.options.target, node.roots);
  EXPECT_THAT(found.cores, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(found.how, "neuron-ls");
  node.spec.cores = {5};
  EXPECT_THAT(find_neuron_devices(node.spec, node.options.target, node.roots).cores, ElementsAre(5));
  std::ofstream(node.path("sys/devices/virtual/dmi/id/product_name")) << "trn2.48xlarge\n";
  EXPECT_THAT(refused(ErrorCode::config, [&] { find_neuron_devices(node.spec, node.options.target, node.roots); }),
              HasSubstr("this node is trn2, the grid's device.target is trn1"));
  ::setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "trn1", 1);
  EXPECT_EQ(find_neuron_devices(node.spec, node.options.target, node.roots).platform, "trn1");
  ::unsetenv("NEURON_PLATFORM_TARGET_OVERRIDE");
}

TEST(NeuronStatus, EveryStatusIsAKernelsADevicesOrTheMachinerys) {
  using Kind = RunOutcome::Kind;
  const auto kind = [](int status) { return outcome_of_nrt("nrt_execute", status).kind; };
  EXPECT_EQ(kind(5), Kind::late);
  for (const int status : {1003, 1006}) EXPECT_EQ(kind(status), Kind::ran);
  for (const int status : {1, 4, 6, 101, 1004, 1005, 1200, 1201, 1202, 1203, 77})
    EXPECT_EQ(kind(status), Kind::crashed) << status;
  for (const int status : {9, 10, 13, 14, 1002}) EXPECT_EQ(kind(status), Kind::machinery) << status;
  EXPECT_EQ(outcome_of_nrt("nrt_init", 1).kind, Kind::machinery);
  EXPECT_EQ(nrt_name(77), "status 77");
}

TEST(Nrt, ElementTypesAreKnownInBothNumberings) {
  EXPECT_STREQ(nrt_dtype_name(1, 4), "float32");
  EXPECT_STREQ(nrt_dtype_name(10, 4), "float32");
  EXPECT_STREQ(nrt_dtype_name(8, 4), "int32");
  EXPECT_STREQ(nrt_dtype_name(3, 2), "bfloat16");
  EXPECT_STREQ(nrt_dtype_name(6, 2), "bfloat16");
  EXPECT_STREQ(nrt_dtype_name(5, 1), "uint8");
  EXPECT_STREQ(nrt_dtype_name(3, 1), "uint8");
  for (const auto& [code, bytes] : {std::pair{1, 8}, std::pair{9, 4}, std::pair{2, 1}, std::pair{7, 2}})
    EXPECT_STREQ(nrt_dtype_name(code, static_cast<std::size_t>(bytes)), "");
}

}  // namespace
}  // namespace nkigrid::device
