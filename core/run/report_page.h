#pragma once
#include <string_view>

namespace foxhunt::run {

/// The report's page as it lies beside this file: its skeleton, which names where style, script and data go, its style,
/// and the script that draws everything from the data.
extern const std::string_view report_page_html, report_page_css, report_page_js;

}  // namespace foxhunt::run
