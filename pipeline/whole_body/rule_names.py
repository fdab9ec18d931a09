"""Whether the rules of trunk, head and arms name only what can be found. Names only, no arrays."""

from collections.abc import Iterator, Mapping, Set
from typing import Any

from ..body.rules import AxisRule, names_in
from ..conventions import ARM, SIDES
from ..errors import Problem, nearest

GIVEN = ("hip_middle", "waist")  # points that need no rule
TRUNK = ("thorax", "head")
Rule = Mapping[str, Any]


def find_loose_ends(rules: Rule, landmarks: Set[str]) -> list[Problem]:
    """Return names that no rule defines, rules without a direction, and points that need themselves.

    Args:
        rules: of config/upper_bodies, in agreement with the schema.
        landmarks: with their sides.
    """
    whole = {*GIVEN, *landmarks, *rules["trunk"]["points"]}
    of_arm = {*rules["arm"]["points"], *(name.removesuffix(f"_{side}") for name in landmarks for side in SIDES)}
    problems = []
    if "neck" not in rules["trunk"]["points"]:
        problems.append(Problem("upper_body.trunk.points", "lacks 'neck'", "add it: where thorax and head meet"))
    needs: dict[str, list[set[str]]] = {}  # of each point and of the thorax, by rule
    for section, segments in (("trunk", TRUNK), ("arm", ARM)):
        known, own = whole | (of_arm if section == "arm" else set()), rules[section]
        for name, alternatives in own["points"].items():
            where = f"upper_body.{section}.points.{name}"
            needs[name] = [_points(rule) | {axis.split(".")[0] for axis in _axes(rule)} for rule in alternatives]
            for rule in alternatives:
                problems += _of_point(where, rule, ("pelvis", "thorax"))
                problems += _unknown(where, _points(rule), known)
        for i, segment in enumerate(segments):
            where, before = (
                f"upper_body.{section}.{segment}",
                ("pelvis", *({"arm": TRUNK}.get(section, ())), *segments[:i]),
            )
            axes = [[AxisRule.of(rule) for rule in alternative] for alternative in own[segment]]
            for rule in (rule for alternative in axes for rule in alternative):
                problems += _unknown(where, {*rule.start, *rule.end}, known)
                if rule.along:
                    problems += _axis(where, rule.along, before)
                elif not (rule.start and rule.end):
                    remedy = "add from and to, medial and lateral, or along"
                    problems.append(Problem(where, f"axis {rule.axis} has no direction", remedy))
            if segment == "thorax":
                needs[segment] = [{name for rule in pair for name in (*rule.start, *rule.end)} for pair in axes]
    return list(dict.fromkeys(problems)) or [*_circles(needs)]


def _points(rule: Rule) -> set[str]:
    """Return the points that the rule of a point needs."""
    named = [rule.get(key, ()) for key in ("from", "to", "proximal")] + [*rule.get("of", ())]
    named += [end for line in rule.get("normal", ()) if not isinstance(line, str) for end in line]
    return {name for one in named for name in names_in(one)}


def _axes(rule: Rule) -> list[str]:
    return [line.lstrip("-") for line in rule.get("normal", ()) if isinstance(line, str)]


def _of_point(where: str, rule: Rule, before: tuple[str, ...]) -> Iterator[Problem]:
    if "to" not in rule and "normal" not in rule:
        yield Problem(where, "has no direction", "add to or normal")
    if "of" in rule and "by" not in rule:
        yield Problem(where, "lacks 'by', the share of the distance in 'of'", "add it")
    for axis in _axes(rule):
        yield from _axis(where, axis, before)


def _axis(where: str, axis: str, before: tuple[str, ...]) -> Iterator[Problem]:
    segment, _, letter = axis.partition(".")
    if segment not in before or letter not in ("x", "y", "z"):
        yield Problem(where, f"cannot follow '{axis}'", f"name an axis of {' or '.join(before)}, as {before[-1]}.z")


def _unknown(where: str, names: set[str], known: set[str]) -> Iterator[Problem]:
    for name in sorted(names - known):
        yield Problem(where, f"no landmark or point '{name}'", nearest(name, known) or "add it to the landmarks")


def _circles(needs: Mapping[str, list[set[str]]]) -> Iterator[Problem]:
    """Yield the points that no marker can show, as all their rules need them or another such point."""
    lost = {*needs}
    while found := {name for name in lost if any(not need & lost for need in needs[name])}:
        lost -= found
    for name in needs:
        if name in lost:
            others = ", ".join(sorted(set().union(*needs[name]) & lost))
            where = "upper_body.trunk.thorax" if name == "thorax" else f"upper_body: point {name}"
            what = f"cannot be found: it needs {others}, and so itself"
            yield Problem(where, what, "add a rule that begins at markers")
