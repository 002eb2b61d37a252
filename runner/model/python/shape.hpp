#pragma once

#include <string_view>

namespace nkigrid::model {

/// Whether the text is well formed as far as a lexer can see: strings end, brackets pair up, indentation is consistent,
/// each compound statement's header ends in a colon and has a body, no line begins with an operator, and what is no
/// assignment or call is not two words side by side (prose). A true answer is no promise that Python accepts it; the
/// compiler says that, with its own message.
bool looks_like_python(std::string_view source);

}  // namespace nkigrid::model
