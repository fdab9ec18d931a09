"""``gaitlab body-model NAME [C3D]``: list the labels of each landmark, and draw the model on a static trial.

The drawing shows one frame as an SVG picture in a self-contained page: landmarks with their names, joint centres, the
axes of each segment (x red, y green, z blue).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np

from ..arrays import Array
from ..body.alignment_device import with_devices
from ..body.body_model import BodyModel
from ..body.landmarks import Points, choose_labels, positions
from ..body.resolved_model import resolve
from ..body.skeleton import Skeleton
from ..body.static_skeleton import static_skeleton
from ..conventions import FROM_HIP, FROM_PELVIS, SIDES
from ..errors import Problem, UserError
from ..steps.read.lab_axes import to_isb
from ..steps.read.recording_file import Source, read_recording
from ..tables.terminal_table import align
from ..workflow import settings

Projection = Callable[[Array], tuple[float, float]]

PX_PER_M, MARGIN_PX, NAMES_PX, ROW_PX = 620, 30, 190, 13
AXIS_M = 0.07
COLOURS = {"x": "#c62828", "y": "#2e7d32", "z": "#1565c0"}
# the horizontal axis of each view in lab axes, and the side with named points
VIEWS = {
    "left side": ((-1, 0, 0), "left"),
    "front (the left leg on the right)": ((0, 0, -1), ""),
    "right side": ((1, 0, 0), "right"),
}
STYLE = (
    "body{font:14px sans-serif;margin:2em;color:#222}svg{max-width:100%;height:auto}td,th{text-align:left;"
    "padding:1px 1em 1px 0}.bone{stroke:#bbb;stroke-width:3}.lead{stroke:#ddd}.mark{fill:#888}.centre{fill:#fff;"
    "stroke:#e65100;stroke-width:2}text{font:11px sans-serif;fill:#333}.head{font-weight:bold;font-size:14px}"
)


def body_model_report(name: Path, *, file: Path | None, output: Path | None) -> str:
    """Return the labels of each landmark; with a C3D file, also draw the model.

    Args:
        name: a shipped model, or a path.
        output: the page to write; None for one in this folder.

    Raises:
        UserError: no such model or file, or a file in which up or forward is unknown.
    """
    model = settings.read_body_model(str(name), where="body-model", study_path=Path())
    model = replace(model, landmarks={**model.landmarks, **model.shoulders})
    if file is None:
        wanted = [("landmark", "label"), *((n, _either(groups)) for n, groups in model.landmarks.items())]
        return f"{model.name}: {model.description}\n\n{align(wanted, width=110)}"
    recording = read_recording(Source(file))
    seen = positions(model, recording.labels, recording.markers)
    rows = _landmark_rows(model, recording.labels, seen)
    points, skeletons, problems = _skeletons(model, seen, recording.sizes, file)
    output = output or Path(f"{name.stem}.html")
    output.write_text(_page(model, file.name, rows, _picture(points, skeletons), problems), encoding="utf-8")
    return "\n".join([align(rows, width=110), "", *map(str, problems), f"Drawn: {output}"])


def _either(groups: Sequence[tuple[str, ...]]) -> str:
    return " or ".join(" + ".join(group) for group in groups)


def _landmark_rows(model: BodyModel, file_labels: list[str], seen: Points) -> list[tuple[str, ...]]:
    """Return a row per landmark: name, label in the file, share of frames visible."""
    labels = choose_labels(model, file_labels)
    rows: list[tuple[str, ...]] = [("landmark", "label found", "frames seen")]
    for name, groups in model.landmarks.items():
        if name not in labels:
            rows.append((name, f"none (expected {_either(groups)})", ""))
            continue
        share = np.isfinite(seen[name]).all(axis=1).mean() if name in seen else 0.0
        rows.append((name, " + ".join(labels[name]), f"{share:.0%}"))
    return rows


def _skeletons(
    model: BodyModel, seen: Points, sizes: Mapping[str, float], file: Path
) -> tuple[Points, dict[str, Skeleton], list[Problem]]:
    """Return landmarks in lab axes, a skeleton per side, and problems of the others."""
    try:
        rotation, _ = to_isb(seen, quarter_turn=True)
    except UserError as error:
        raise error.within(str(file)) from None
    resolved = resolve(model, seen.keys())
    points = with_devices({name: where @ rotation.T for name, where in seen.items()}, resolved.devices)
    hip_centre = settings.defaults(model)["calibrate"]["hip_centre"]
    sizes = {"marker_diameter_m": 0.014, **sizes}
    skeletons: dict[str, Skeleton] = {}
    problems: list[Problem] = []
    for side, leg in resolved.legs.items():
        try:
            if leg.lacking:
                what = f"no {', '.join(name.replace('_', ' ') for name in leg.lacking)} in the file"
                raise UserError("", what, "label these markers")
            skeletons[side], _ = static_skeleton(points, leg, sizes, hip_centre=hip_centre)
        except UserError as error:
            problems += error.within(f"{side} leg").problems
    return points, skeletons, problems


def _picture(points: Points, skeletons: Mapping[str, Skeleton]) -> str:
    """Return the SVG of the frame with most landmarks."""
    shown = np.sum([np.isfinite(where).all(axis=1) for where in points.values()], axis=0)
    k = int(np.argmax(shown))
    still = {name: where[k] for name, where in points.items() if np.isfinite(where[k]).all()}
    everything = np.stack(list(still.values()))
    low, high = everything.min(axis=0) - AXIS_M, everything.max(axis=0) + AXIS_M
    panels, left = [], 0.0
    for title, (across, side) in VIEWS.items():
        ends = sorted((float(np.dot(low, across)), float(np.dot(high, across))))
        content = [f'<text class="head" x="{MARGIN_PX}" y="18">{title}</text>']
        at = _projection(np.array(across, dtype=float), MARGIN_PX - PX_PER_M * ends[0], 30 + PX_PER_M * high[1])
        for name in [side] if side else SIDES:
            if name in skeletons:
                content += _bones(skeletons[name], at, k)
        edge = MARGIN_PX + PX_PER_M * (ends[1] - ends[0])
        content += _landmarks(still, at, side, edge)
        panels.append(f'<g transform="translate({left:.0f} 0)">{"".join(content)}</g>')
        left += edge + (NAMES_PX if side else MARGIN_PX)
    height = 60 + PX_PER_M * (high[1] - low[1])
    return f'<svg viewBox="0 0 {left:.0f} {height:.0f}" width="{left:.0f}" role="img">{"".join(panels)}</svg>'


def _projection(across: Array, x_px: float, y_px: float) -> Projection:
    """Return the function from a point (3,) in lab axes to pixels."""

    def at(place: Array) -> tuple[float, float]:
        return x_px + PX_PER_M * float(place @ across), y_px - PX_PER_M * float(place[1])

    return at


def _line(a: tuple[float, float], b: tuple[float, float], attributes: str) -> str:
    return f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" {attributes}/>'


def _bones(leg: Skeleton, at: Projection, k: int) -> list[str]:
    """Return the SVG of a leg: joint centres, lines between them, segment axes."""
    centres = [leg.centres[f"{joint}_centre"][k] for joint in FROM_HIP]
    parts = [_line(at(a), at(b), 'class="bone"') for a, b in zip(centres, centres[1:], strict=False)]
    for segment in FROM_PELVIS:
        origin, axes = leg.origins[segment][k], leg.frames[segment][k]
        if segment in ("thigh", "shank"):  # in the middle of the segment, away from the joint centres
            origin = (origin + centres[1 if segment == "thigh" else 2]) / 2
        for letter, axis in zip("xyz", axes, strict=True):
            drawn = f'stroke="{COLOURS[letter]}" stroke-width="2"'
            parts.append(_line(at(origin), at(origin + AXIS_M * axis), drawn))
    for place in centres:
        x, y = at(place)
        parts.append(f'<circle class="centre" cx="{x:.1f}" cy="{y:.1f}" r="6"/>')
    return parts


def _landmarks(still: Mapping[str, Array], at: Projection, side: str, edge: float) -> list[str]:
    """Return the SVG of the landmarks; those of ``side`` have names at the right."""
    other = {"left": "_right", "right": "_left"}.get(side, "no side")
    places = {name: at(place) for name, place in still.items() if not name.endswith(other)}
    parts, row = [], 0.0
    for name, (x, y) in sorted(places.items(), key=lambda item: item[1][1]):
        if side:
            row = max(row + ROW_PX, y)
            parts.append(_line((x, y), (edge, row), 'class="lead"'))
            parts.append(f'<text x="{edge + 4:.0f}" y="{row + 4:.0f}">{escape(name.removesuffix(f"_{side}"))}</text>')
    parts += [f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in places.values()]
    return parts


def _page(model: BodyModel, file: str, rows: list[tuple[str, ...]], svg: str, problems: list[Problem]) -> str:
    head, *body = rows
    table = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in body)
    notes = "".join(f"<p><b>{escape(str(problem))}</b></p>" for problem in problems)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(model.name)}</title>'
        f"<style>{STYLE}</style><h1>{escape(model.name)}</h1><p>{escape(model.description)}</p>"
        f"<p>Drawn on {escape(file)}. Grey: landmarks. Orange: joint centres. Axes: x red, y green, z blue.</p>"
        f"{notes}{svg}<table><tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>{table}</table></html>\n"
    )
