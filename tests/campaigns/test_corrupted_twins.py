"""Corrupted twins: that faults are what they say, and that those found in a few sessions stay found."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.campaigns.corrupted_twins import (
    DOUBTED,
    HARMLESS,
    HARMLESS_N_M_KG,
    MISSED,
    REFUSED,
    Judged,
    Outcome,
    campaign,
    generated_session,
    judged,
    outcomes,
    sessions_in,
)
from tests.campaigns.sound_walks import verdicts
from tests.support.faults.twin_rows import faults
from tests.support.faults.twins import Fault, Session, Twin

# rows and doses that are refused, doubted or harmless wherever they were tried
FOUND = (
    "all plates out of time, 60 ms",
    "labels exchanged, legs, 30",
    "plate turned or mirrored, 180 degrees",
    "plate turned or mirrored, upside down",
    "plate channels, one dead",
    "plate channels, all reversed",
)


class Known(NamedTuple):
    """A session, and the verdicts on it without a fault."""

    session: Session
    clean: Judged


def known(session: Session) -> Known:
    clean = judged(session)
    assert not isinstance(clean, str)
    return Known(session, clean)


@pytest.fixture(scope="module")
def generated() -> Known:
    return known(generated_session(4))


@pytest.fixture(scope="module")
def real(shared: Path) -> Known:
    study = shared / "studies" / "plug_in_gait"
    return known(next(one for one in sessions_in(study, "real") if one.name.endswith("sub-02")))


def chosen(*texts: str) -> list[Fault]:
    return [fault for fault in faults() if any(text in f"{fault.row}, {fault.dose}" for text in texts)]


def of(one: Known, *texts: str) -> list[Outcome]:
    result = list(outcomes(*one, chosen(*texts), seed=0))
    assert [text for text in texts if not any(text in ", ".join(each.fault) for each in result)] == []
    return result


def test_a_twin_without_a_fault_is_no_other(generated: Known) -> None:
    same = Fault("none", "", lambda session, contacts, _: Twin(session, contacts))
    found = list(outcomes(*generated, [same], seed=0))
    assert [(one.kind, one.harm) for one in found] == [(HARMLESS, 0.0)] * 3


def test_moments_grow_with_the_forces(generated: Known) -> None:
    """A gain of 0.95 of all plates changes the ankle moment, nearly proportional to the forces, by 0.05 of its size."""
    clean = generated.clean
    for one in of(generated, "gain of all plates, x 0.95"):
        if one.kind in (DOUBTED, HARMLESS):
            assert one.moment == "ankle flexion"
            contact = next(c for c in clean.used if one.where.endswith(f"{c.side} {c.plates[0]}"))
            side = ("left", "right").index(contact.side)
            ankle = clean.moments[contact.file][contact.first : contact.last + 1, side, 0, 0]
            assert one.harm == pytest.approx(0.05 * np.sqrt(np.nanmean(ankle**2)), rel=0.1)


def test_harm_grows_with_the_dose(generated: Known) -> None:
    """A shift of the plates turns force times shift into moment: 0.01 m times some 10 N/kg."""
    doses = [f"{mm} mm" for mm in (10, 20)]
    found = of(generated, *(f"plates shifted along the walk, {dose}" for dose in doses))
    harms = [max(one.harm for one in found if one.fault[1] == dose) for dose in doses]
    assert harms[0] == pytest.approx(0.09, abs=0.03)
    assert harms[1] == pytest.approx(2 * harms[0], rel=0.1)


def test_lost_frames_are_compared_with_those_they_show(generated: Known) -> None:
    """Before the loss, the moments are those of the clean walk, but for a stance that the loss cuts."""
    (fault,) = chosen("frames lost, markers and forces, 120 ms")
    clean = generated.clean
    twin = fault.corrupt(generated.session, clean.used, np.random.default_rng(1))
    assert twin is not None
    (shown,) = twin.frames.values()
    (gone,) = np.flatnonzero(np.diff(shown) > 1)
    assert np.diff(shown)[gone] == 13
    found = judged(twin.session)
    assert not isinstance(found, str)
    ((file, before),) = clean.moments.items()
    until = gone - 40
    known = np.isfinite(found.moments[file][:until])
    assert known.any()
    np.testing.assert_allclose(found.moments[file][:until][known], before[:until][known], atol=0.01)


def test_faults_found_before_stay_found(generated: Known, real: Known) -> None:
    for session in (generated, real):
        assert [one for one in of(session, *FOUND) if one.kind == MISSED] == []


def test_a_marker_moved_after_the_angles_were_stored_is_found(real: Known) -> None:
    found = of(real, *(f"marker moved in the walk: {place}, 30 mm" for place in ("knee", "thigh", "shank")))
    doubted = {one.fault for one in found if one.kind == DOUBTED and "angles_unlike_file" in one.codes}
    assert doubted == {one.fault for one in found}
    assert [one for one in found if one.kind == MISSED] == []


def test_every_dose_is_counted_by_its_harm(generated: Known) -> None:
    """Only a used stance that the fault changes by less than the limit is harmless."""
    found = campaign([generated.session], rows=["all markers frozen"], seed=0)
    assert {one.fault[1] for one in found} == {"20 ms", "50 ms", "100 ms", "200 ms"}
    for one in found:
        assert one.kind in (REFUSED, DOUBTED) or (one.kind == MISSED) == (one.harm >= HARMLESS_N_M_KG)


def test_sound_walks_raise_hardly_an_alarm() -> None:
    """Straight, slow, on a belt, backwards: no valid stance is refused; doubts are of one walk at most."""
    found = {seed: verdicts(seed, "moving") for seed in (26, 29, 36, 37)}
    assert all(found.values())
    assert [one for walk in found.values() for one in walk if one.refused] == []
    assert sum(any(one.doubted for one in walk) for walk in found.values()) <= 1
