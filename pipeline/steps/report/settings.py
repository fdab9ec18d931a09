"""Settings of the step ``report``."""

from dataclasses import dataclass
from typing import Literal

from ...setting import setting

Signs = Literal["clinical", "stored"]
Axes = Literal["fixed", "fitted"]
Colours = Literal["orange_blue", "red_blue", "red_green"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of section ``report`` that the overview and all pages get; the logo as a data URI."""

    # fmt: off
    title: str = setting("Gait study", "title of the report page", longest=200)
    moment_signs: Signs = setting("clinical",
        "signs of the joint moments in the figures; clinical draws internal extensor, abductor, plantarflexor, "
        "evertor and external rotator moments upwards, as most clinical reports do; stored draws the signs of "
        "study.nc, the opposite of all of these; the tables and files do not change")
    axes: Axes = setting("fixed",
        "vertical axes of the figures until a reader chooses; fixed is the same clinical range for everybody, so that "
        "reports can be compared by eye, and marks curves that leave it; fitted follows the curves")
    colours: Colours = setting("orange_blue",
        "colours of left and right on all pages; orange and blue differ also for the blind to red and green; "
        "the left has circles in any case")
    laboratory: str | None = setting(None,
        "name of the laboratory at the head of each page; null for none", longest=200)
    logo: str | None = setting(None,
        "path of a picture in the study for the head of each page, PNG or SVG of at most 200 kB, which is embedded; "
        "null for none", longest=500, form="path_in_study")
    # fmt: on


@dataclass(frozen=True, kw_only=True)
class Section(Settings):
    """Section ``report`` of the settings, with those that are the workflow's and are not passed to the step."""

    # fmt: off
    notes: str | None = setting(None,
        "folder in the study with texts on participants, NAME_question.txt with the referral question and "
        "NAME_notes.txt, which are shown on the participant's page as plain text; null for none",
        longest=500, form="path_in_study")
    pages: Literal["all", "on_request"] = setting("all",
        "pages of participants that a run writes; on_request writes only the overview and keeps pages up to date that "
        "exist, and gaitlab run STUDY derived/report/NAME.html writes that of a participant")
