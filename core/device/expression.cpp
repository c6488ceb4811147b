#include "core/device/expression.h"

#include <cctype>

#include "core/error.h"

namespace foxhunt {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const IntegerArguments& arguments) : text_(text), arguments_(arguments) {}

  std::int64_t whole() {
    const std::int64_t value = sum();
    if (at_ != text_.size()) fail();
    return value;
  }

 private:
  std::int64_t sum() {
    std::int64_t value = product();
    while (peek() == '+' || peek() == '-') value = text_[at_++] == '+' ? value + product() : value - product();
    return value;
  }

  std::int64_t product() {
    std::int64_t value = factor();
    while (peek() == '*' || peek() == '/') {
      if (text_[at_++] == '*') {
        value *= factor();
      } else {
        const std::int64_t divisor = factor();
        if (divisor <= 0) fail();
        value = (value + divisor - 1) / divisor;
      }
    }
    return value;
  }

  std::int64_t factor() {
    if (peek() == '(') {
      ++at_;
      const std::int64_t value = sum();
      if (peek() != ')') fail();
      ++at_;
      return value;
    }
    std::size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_')) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    if (word.empty()) fail();
    at_ = end;
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return std::stoll(std::string(word));
    const auto found = arguments_.find(word);
    if (found == arguments_.end()) fail();
    return found->second;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[noreturn]] void fail() const {
    throw Error(ExitCode::device, "kernel catalogue: cannot evaluate \"" + std::string(text_) + "\" at character " +
                                      std::to_string(at_ + 1));
  }

  std::string_view text_;
  const IntegerArguments& arguments_;
  std::size_t at_ = 0;
};

}  // namespace

std::int64_t evaluate(std::string_view expression, const IntegerArguments& arguments) {
  return Parser(expression, arguments).whole();
}

}  // namespace foxhunt
