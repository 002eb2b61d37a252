#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/model/http.hpp"
#include "runner/model/key.hpp"

/// AWS Signature Version 4. Our own, because libcurl up to 7.88 signs the path as it is sent, where AWS wants it
/// encoded once more: ids with a colon are then refused.
/// @source docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
namespace nkigrid::model {

struct AwsScope {
  std::string region, service;
};

/// The headers that prove who asks: x-amz-date, x-amz-security-token where the credentials are temporary,
/// authorization. Signs the host, those and every header of the request.
/// @param url as it is sent, path and query percent-encoded already
/// @param now [Unix seconds]
std::vector<HeaderLine> signature_v4(std::string_view method, const HttpRequest& request,
                                     const AwsCredentials& credentials, const AwsScope& scope, double now);

/// Every byte but letters, digits and -._~ as %XX; `kept` stays, too.
std::string percent_encoded(std::string_view text, std::string_view kept = "");

}  // namespace nkigrid::model
