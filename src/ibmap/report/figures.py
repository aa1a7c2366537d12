"""The figures of the page, made with bokeh: glyphs, axes and tools; ``drawing.js`` fills their sources."""

import math
from typing import Any

#: ticks of the histogram: log10 of the odds of a posterior, and its words
TICKS = {
    **{math.log10(p / (1 - p)): f"{p:g}" for p in (0.001, 0.1, 0.5, 0.9, 0.999)},
    **{float(k): f"1 - 1e-{k}" for k in (6, 12, 24, 48, 100, 300)},
}
TIP = '<div style="max-width: 22em; overflow-wrap: anywhere">@label</div>'


def figures() -> dict[str, Any]:
    """Return the figures by name, as JSON that BokehJS embeds."""
    from bokeh.core.types import ID
    from bokeh.embed import json_item

    made = {"network": _network(), "heat": _heat_map(), "scores": _scores(), "histogram": _histogram()}
    return {name: json_item(figure, ID(name)) for name, figure in made.items()}


def _figure(name: str, tools: str = "", **options: Any) -> Any:
    from bokeh.plotting import figure

    plot = figure(
        name=name,
        tools=tools,
        sizing_mode="stretch_both",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        **options,
    )
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    return plot


def _source(name: str, *columns: str) -> Any:
    from bokeh.models import ColumnDataSource

    return ColumnDataSource({column: [] for column in columns}, name=name)


def _ranges(name: str) -> dict[str, Any]:
    from bokeh.models import Range1d

    return {f"{axis}_range": Range1d(start=0, end=1, name=f"{name} {axis}") for axis in "xy"}


def _report_taps(plot: Any, kind: str) -> None:
    from bokeh.models import CustomJS

    code = f"window.ibmapReport.tapped('{kind}', cb_obj.x, cb_obj.y)"
    for event in ("tap", "doubletap", "press"):  # a quick second click, and a slow one, are clicks too
        plot.js_on_event(event, CustomJS(code=code))


def _add_tools(plot: Any, name: str) -> None:
    """Add tools whose names the page knows: it says when wheel and fingers move the figure."""
    from bokeh.models import PanTool, ResetTool, SaveTool, WheelZoomTool

    pan, wheel = PanTool(name=f"{name} pan"), WheelZoomTool(name=f"{name} wheel")
    plot.add_tools(pan, wheel, ResetTool(), SaveTool(filename=f"ibmap {name}"))


def _network() -> Any:
    from bokeh.models import HoverTool

    plot = _figure("network plot", **_ranges("network"))
    plot.axis.visible = plot.grid.visible = False
    _add_tools(plot, "network")
    lines = _source("edges", "x0", "y0", "x1", "y1", "color", "width", "alpha", "dash", "label")
    drawn = plot.segment(
        "x0", "y0", "x1", "y1", source=lines, line_color="color", line_width="width", line_alpha="alpha",
        line_dash="dash", line_cap="round",
    )  # fmt: skip
    points = _source("nodes", "x", "y", "size", "color", "text", "offset", "label", "ink", "halo")
    dots = plot.scatter("x", "y", source=points, size="size", fill_color="color", line_color="halo")
    names = {"source": points, "text_align": "center", "text_baseline": "middle", "y_offset": "offset"}
    plot.text(
        "x",
        "y",
        "text",
        **names,
        text_color="halo",
        text_outline_color="halo",
        text_outline_width=4,
        text_font_size="12px",
    )
    plot.text("x", "y", "text", **names, text_color="ink", text_font_size="12px")
    plot.add_tools(HoverTool(renderers=[drawn, dots], tooltips=TIP, limit=1))
    _report_taps(plot, "network")
    return plot


def _heat_map() -> Any:
    from bokeh.models import BasicTicker, CustomJSTickFormatter, HoverTool

    plot = _figure("heat plot", x_axis_location="above", **_ranges("heat"))
    _add_tools(plot, "heat")
    bands = _source("bands", "x", "y", "width", "height", "color")
    plot.rect(
        "x", "y", "width", "height", source=bands, fill_color="color", fill_alpha=0.2, line_color=None
    )  # fmt: skip
    cells = _source("cells", "x", "y", "color", "alpha", "label")
    drawn = plot.rect(
        "x",
        "y",
        1,
        1,
        source=cells,
        fill_color="color",
        fill_alpha="alpha",
        line_color=None,
        name="cell glyph",
    )
    for name, axis in (("heat columns", plot.xaxis[0]), ("heat rows", plot.yaxis[0])):
        axis.ticker = BasicTicker(min_interval=1, num_minor_ticks=0, name=name)
        axis.formatter = CustomJSTickFormatter(code="return window.ibmapReport.nameAt(tick)")
    plot.xaxis[0].major_label_orientation = math.pi / 3
    plot.add_tools(HoverTool(renderers=[drawn], tooltips=TIP))
    _report_taps(plot, "heat")
    return plot


def _scores() -> Any:
    from bokeh.models import HoverTool, NumeralTickFormatter

    words = {"x_axis_label": "ascent", "y_axis_label": "score"}
    plot = _figure("scores plot", tools="xpan,reset,save", **words, **_ranges("scores"))
    steps = _source("steps", "n", "score", "color", "label")
    plot.line("n", "score", source=steps, line_width=1.5, name="score line")
    dots = plot.scatter("n", "score", source=steps, size=6, color="color")
    plot.add_tools(HoverTool(renderers=[dots], tooltips=TIP))
    plot.yaxis[0].formatter = NumeralTickFormatter(format="0,0.[00]")
    _report_taps(plot, "scores")
    return plot


def _histogram() -> Any:
    from bokeh.models import FixedTicker, HoverTool, NoOverlap

    words = {"x_axis_label": "posterior of an edge", "y_axis_label": "pairs"}
    plot = _figure("histogram plot", tools="save", **words, **_ranges("histogram"))
    bars = _source("bars", "left", "right", "bottom", "top", "color", "label")
    drawn = plot.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        source=bars,
        fill_color="color",
        line_color=None,
    )
    places = {math.asinh(odds): words for odds, words in TICKS.items()}  # the scale of evidence() in words.js
    plot.xaxis[0].ticker = FixedTicker(ticks=list(places))
    plot.xaxis[0].major_label_overrides = places
    plot.xaxis[0].major_label_policy = NoOverlap(min_distance=8)
    plot.add_tools(HoverTool(renderers=[drawn], tooltips=TIP))
    return plot
