"""The report: one page that opens offline, to look at a learned network and to question it."""

from ibmap.report.page import report_text, write_report

__all__ = ["report_text", "write_report"]
