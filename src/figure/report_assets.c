/* The files of web/, inside the command: a report needs nothing beside it but Vega. */
#include "figure/report_parts.h"

#define FILE_OF_WEB(name, path)                                                                          \
    __asm__(".pushsection .rodata\n.globl " #name "\n.hidden " #name "\n" #name ":\n.incbin \"web/" path \
            "\"\n.byte 0\n.popsection\n")

FILE_OF_WEB(report_html, "report.html");
FILE_OF_WEB(report_css, "report.css");
FILE_OF_WEB(report_figure_parts_js, "figure_parts.js");
FILE_OF_WEB(report_figure_kinds_js, "figure_kinds.js");
FILE_OF_WEB(report_page_parts_js, "page_parts.js");
FILE_OF_WEB(report_runs_table_js, "runs_table.js");
FILE_OF_WEB(report_compare_css, "compare.css");
FILE_OF_WEB(report_compare_js, "compare.js");
FILE_OF_WEB(report_compare_view_js, "compare_view.js");
FILE_OF_WEB(report_robust_js, "robust.js");
FILE_OF_WEB(report_source_css, "source.css");
FILE_OF_WEB(report_source_js, "source.js");
FILE_OF_WEB(report_js, "report.js");
FILE_OF_WEB(report_correlate_css, "correlate.css");
FILE_OF_WEB(report_correlate_js, "correlate.js");
FILE_OF_WEB(report_vega_js, "vega.js");
