"""Real walks over plates: one file of each laboratory and person, with labels of pelvis and feet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import xarray as xr

from pipeline.body.body_model import BodyModel
from pipeline.steps.read.step import read_trial as read
from pipeline.workflow.strict_yaml import read_yaml
from tests.support.checkout import HOUSE
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.as_clean import BODY_MODEL


def label(asis: str, heel: str, toe: Any) -> BodyModel:
    landmarks = {"asis": f"{{side}}{asis}", "heel": f"{{side}}{heel}", "toe": toe}
    return BodyModel.of(BODY_MODEL.definition | {"landmarks": landmarks})


FILES: dict[str, BodyModel] = {
    "studies/plug_in_gait/sub-01/PiG_Motion3_FF.c3d": BODY_MODEL,
    "studies/plug_in_gait/sub-02/HC002D06.c3d": BODY_MODEL,
    "studies/plug_in_gait/sub-03/HC030A05.c3d": BODY_MODEL,
    "studies/plug_in_gait/sub-04/PiG_Motion-FlatFoot-Full.c3d": BODY_MODEL,
    "studies/plug_in_gait/sub-05/PiG_Motion-FlatFoot-Hole.c3d": BODY_MODEL,
    "studies/plug_in_gait/sub-06/PiG_Motion-FlatFoot-One.c3d": BODY_MODEL,
    "studies/functional/sub-01/FunctionalWalk.c3d": BODY_MODEL,
    "studies/gait2354/sub-01/walk1.c3d": label(".ASIS", ".Heel", [["{side}.Toe.Lat", "{side}.Toe.Med"]]),
    "studies/exact/sub-01/walk_01.c3d": label("ASI", "HEE", "{side}MT2"),
    "data/c3dorg_sample10_types/TYPE-2a.c3d": BODY_MODEL,
    "data/c3dparser_AUC/CB_Dynamic0003.c3d": label("ASI", "HEE", "{side}LA_TOE"),
    "data/codamotion_type3/codamotion_gaitwands_19970212.c3d": label(".ASIS", ".Heel", "{side}.Toe"),
    "data/codamotion_type3/codamotion_gaitwands_20150204.c3d": label(".ASIS", ".Heel", "{side}.Toe"),
    "data/opensim_walking/walking2.c3d": label("ASI", "CAL", "{side}MT2"),
    "data/qualisys_cast/Qualisys.c3d": label("_IAS", "_FCC", [["{side}_FM1", "{side}_FM5"]]),
}


CHOSEN = read_yaml(HOUSE / "config" / "default.yaml")


def raw_walks(shared: Path) -> dict[str, xr.Dataset]:
    """Return the results of step ``read`` for all walks."""
    return {file: read(shared / file, body_model=model, **CHOSEN["read"]) for file, model in FILES.items()}


def cleaned_walks(shared: Path) -> dict[str, xr.Dataset]:
    """Return the results of step ``clean`` for all walks."""
    return {
        file: clean(raw, body_model=FILES[file], settings=settings_of("clean"))
        for file, raw in raw_walks(shared).items()
    }
