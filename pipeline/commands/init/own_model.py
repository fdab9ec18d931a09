"""A proposal for a body model of one's own: the nearest one, with the labels that the files lack to be filled in."""

import json
import textwrap
from collections.abc import Collection, Sequence

from ...body.body_model import BodyModel
from ...body.landmarks import choose_labels
from ...conventions import SIDES

PROPOSAL = "body_model_proposal.yaml"
WIDTH = 110
HOW = (
    "A proposal of gaitlab init: {name} fits these files best, but lacks the markers below. Put your labels in their "
    "place ({{side}} is {left} or {right}; a label of each side may also be written as heel_left, heel_right), remove "
    "what you have no marker for, and write 'body_model: {file}' in study.yaml. docs/body_models.md describes all."
)


def propose(name: str, model: BodyModel, lacking: Sequence[str], labels: Collection[str]) -> str:
    """Return the text of a body model that extends the nearest one, valid as it is.

    ``lacking`` are its landmarks and clusters that the files lack, ``labels`` those of the markers that they show.
    """
    used = {label for group in choose_labels(model, labels).values() for label in group}
    free = [label for label in sorted(labels) if label not in used]
    absent = {name.removesuffix(f"_{side}") for name in lacking for side in SIDES} | {*lacking}
    sides = model.definition.get("side_labels", {"left": "L", "right": "R"})
    stated = {mark: text for mark, text in model.definition["landmarks"].items() if mark in absent}
    how = HOW.format(name=name, file=PROPOSAL, **sides)
    unnamed = f"Labels of your files that {name} does not name: {', '.join(free) or 'none'}"
    lines = [f"# {line}" for text in (how, unnamed) for line in textwrap.wrap(text, WIDTH)]
    lines += ["name: our_own", f"description: as {name}, with labels of our own", f"extends: {name}"]
    lines += ["landmarks:"] * bool(stated)
    lines += [f"  {mark}: {json.dumps(text)}  # absent" for mark, text in stated.items()]
    return "\n".join(lines) + "\n"
