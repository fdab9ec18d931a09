"""What the results rest on, in the story of a cycle: model of the person, body, checks, settings, code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline import manifest
from pipeline.cycle_story import Blocks, Story
from pipeline.stances import SAME_STRIKE_S
from pipeline.story_of_data import file_lines
from pipeline.vocabulary import FLAGS
from pipeline.workflow import SESSION_STEPS

SHORT = 12  # characters of a digest


def method_sections(story: Story) -> dict[str, Blocks]:
    """Return the sections on what the results rest on, by title."""
    return {
        "Model of the person": _model(story),
        "Body": _body(story),
        "Checks": _checks(story),
        "Settings": _settings(story),
        "Made by": _made_by(story),
    }


def _model(story: Story) -> Blocks:
    model = story.steps["calibrate"]
    yield f"body model {story.settings['body_model']}; static trial {model.attrs['static_trial']}:"
    yield from file_lines(story, story.static)
    mine = model.sel(side=story.side)
    for joint in ("hip", "knee", "ankle"):
        carrier = str(mine.joint_carrier.sel(joint=joint).item())
        how = f"moves with the {carrier}" if carrier else "found in every frame"
        yield f"{joint} centre: {model.attrs[f'{joint}_centre_{story.side}']}; {how}"
    yield f"body-segment parameters: {model.attrs['segment_parameters']}"
    rows = [["segment", "mass kg", "centre of mass from proximal joint mm", "moments of inertia kg m2 (x y z)"]]
    for segment in model.segment.values:
        own = mine.sel(segment=segment)
        com = " ".join(f"{1000 * part:.1f}" for part in own.segment_com.values)
        inertia = " ".join(f"{part:.5f}" for part in np.diag(own.segment_inertia.values))
        rows.append([str(segment), f"{float(own.segment_mass):.3f}", com, inertia])
    yield rows
    yield from filter(None, [model.attrs["note"]])


def _body(story: Story) -> Blocks:
    attributes = story.steps["calibrate"].attrs
    sizes, origin = (json.loads(attributes[name]) for name in ("anthropometry", "anthropometry_source"))
    yield [["size", "value", "from"], *([name, f"{value:g}", origin[name]] for name, value in sorted(sizes.items()))]


def _checks(story: Story) -> Blocks:
    kinetics, most = story.steps["kinetics"], story.settings["cycles"]["max_disagreement_n_m"]
    yield f"largest difference of other formulations from the block matrix in the trial (allowed: {most:g} N m)"
    rows = [["formulation", "force N", "moment N m"]]
    for name in kinetics.formulation.values:
        own = kinetics.disagreement.sel(formulation=name)
        rows.append([str(name), *(f"{float(own.sel(load=load)):.1e}" for load in ("force", "moment"))])
    yield rows
    forward = kinetics.forward_closure.sel(side=story.side)
    told = (f"{joint} {_list(forward.sel(joint=joint).values)}" for joint in kinetics.joint.values)
    angles = ", ".join(map(str, kinetics.angle.values))
    yield f"forward closure, degrees of {angles}: {'; '.join(told)}"
    energy = kinetics.energy_closure.sel(side=story.side)
    yield "energy closure, W: " + "; ".join(
        f"{name} {float(energy.sel(segment=name)):.2e}" for name in energy.segment.values
    )
    yield from _missing(story)
    data = story.steps["cycles"]
    near = np.abs(data.stance_start.values - story.span_s[0]) < SAME_STRIKE_S
    for reason in data.stance_reason.values[near & (data.stance_side.values == story.side)]:
        yield f"verdict on the stance: {reason or 'used'}"


def _list(values: NDArray[np.float64]) -> str:
    return " ".join(f"{value:.2e}" for value in values)


def _missing(story: Story) -> Iterator[str]:
    """Yield of each joint why its moment is not known in some frames."""
    kinetics = story.steps["kinetics"]
    words = [word.replace("_", " ") for word in FLAGS["kinetics", "missing"].split()]
    inside = story.within(kinetics.time.values)
    missing = kinetics.missing.sel(side=story.side).values[inside]
    for joint, codes in zip(kinetics.joint.values, missing.T, strict=True):
        found = [f"{words[code]} in {(codes == code).sum()} frames" for code in np.unique(codes) if code]
        if found:
            yield f"{joint} moment not known: {'; '.join(found)}, of {inside.sum()}"


def _settings(story: Story) -> Blocks:
    for step in ("read", "calibrate", "clean", "contacts", "kinematics", "kinetics", "cycles", "study"):
        own = story.settings.get(step, {})
        yield f"{step}: " + ", ".join(f"{name} {_plain(value)}" for name, value in own.items())


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _made_by(story: Story) -> Blocks:
    names = {step: f"{story.cycle.session.item()}/{step}.nc" for step in SESSION_STEPS} | {"study": "study.nc"}
    for step, name in names.items():
        made = manifest.recorded(story.derived, name)
        if made is None:
            yield f"{step}: no record of its code in derived/{manifest.FOLDER}"
            continue
        with_ = {part: text.strip('"') for part, text in made.made_with.items()}
        versions = [f"{part.partition('.')[2]} {text}" for part, text in with_.items() if part.startswith("versions.")]
        yield f"{step}: pipeline {with_['pipeline']}, code {with_['code'][:SHORT]}, {', '.join(versions)}"
