#include "runner/model/wire/sigv4.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jobs/base/hash.hpp"

namespace nkigrid::model {
namespace {

struct UrlParts {
  std::string_view host, path, query;
};

UrlParts parts_of(std::string_view url) {
  UrlParts parts;
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  const std::size_t query = url.find('?');
  if (query != std::string_view::npos) parts.query = url.substr(query + 1);
  url = url.substr(0, query);
  const std::size_t path = url.find('/');
  parts.host = url.substr(0, path);
  parts.path = path == std::string_view::npos ? "/" : url.substr(path);
  return parts;
}

/// Parameters in the order of their names, then values, each with its `=`.
std::string canonical_query(std::string_view query) {
  std::vector<std::string> parameters;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    std::string parameter(query.substr(0, end));
    if (parameter.find('=') == std::string::npos) parameter += '=';
    parameters.push_back(std::move(parameter));
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
  }
  std::sort(parameters.begin(), parameters.end());
  return fmt::format("{}", fmt::join(parameters, "&"));
}

struct Canonical {
  std::string names;  ///< of the signed headers, sorted
  std::string text;
};

Canonical canonical_request(std::string_view method, const HttpRequest& request, const std::vector<HeaderLine>& added) {
  const UrlParts url = parts_of(request.url);
  std::map<std::string, std::string> headers = {{"host", std::string(url.host)}};
  for (const auto* list : {&request.headers, &added})
    for (const auto& header : *list) headers[header.name] = header.value;
  Canonical canonical;
  std::string lines;
  for (const auto& [name, value] : headers) {
    lines += fmt::format("{}:{}\n", name, value);
    canonical.names += (canonical.names.empty() ? "" : ";") + name;
  }
  canonical.text = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", method, percent_encoded(url.path, "/"),
                               canonical_query(url.query), lines, canonical.names, sha256_hex(request.body));
  return canonical;
}

/// A digest that is the next one's key.
std::string text_of(const std::array<std::uint8_t, 32>& digest) { return {digest.begin(), digest.end()}; }

/// "20150830T123600Z"
std::string amz_date(double now) {
  const auto seconds = static_cast<std::time_t>(now);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts)};
}

}  // namespace

std::string percent_encoded(std::string_view text, std::string_view kept) {
  std::string out;
  for (const unsigned char c : text) {
    const bool plain = std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain || kept.find(static_cast<char>(c)) != std::string_view::npos)
      out += static_cast<char>(c);
    else
      out += fmt::format("%{:02X}", c);
  }
  return out;
}

std::vector<HeaderLine> signature_v4(std::string_view method, const HttpRequest& request,
                                     const AwsCredentials& credentials, const AwsScope& scope, double now) {
  const std::string date = amz_date(now), day = date.substr(0, 8);
  std::vector<HeaderLine> headers = {{"x-amz-date", date}};
  if (!credentials.session_token.empty()) headers.push_back({"x-amz-security-token", credentials.session_token});
  const Canonical canonical = canonical_request(method, request, headers);
  const std::string range = fmt::format("{}/{}/{}/aws4_request", day, scope.region, scope.service);
  const std::string to_sign = fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", date, range, sha256_hex(canonical.text));
  std::string key = "AWS4" + credentials.secret;
  for (const std::string_view part : {std::string_view(day), std::string_view(scope.region),
                                      std::string_view(scope.service), std::string_view("aws4_request")})
    key = text_of(hmac_sha256(key, part));
  headers.push_back(
      {"authorization", fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
                                    credentials.access_id, range, canonical.names, to_hex(hmac_sha256(key, to_sign)))});
  return headers;
}

}  // namespace nkigrid::model
