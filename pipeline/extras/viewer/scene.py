"""The lab in three dimensions: markers, figure, plates and forces of one frame."""

from collections.abc import Mapping, Sequence

import numpy as np
import viser
from numpy.typing import NDArray

from ...arrays import Array
from ...plates.wrench import plate_axes
from ...variables.stance_verdicts import DOUBTED, NOT_ON_A_PLATE, REFUSED, USED
from .shown_trial import ShownTrial

Colour = tuple[int, int, int]
OF_VERDICT: Mapping[str, Colour] = {USED: (26, 127, 55), DOUBTED: (191, 135, 0), REFUSED: (207, 34, 46)}
GREY: Colour = (120, 120, 120)
OF_SIDE: Mapping[str, Colour] = {"left": (207, 34, 46), "right": (9, 105, 218), "pelvis": (90, 90, 90)}
RECORDED, REPAIRED, CENTRES, PLATES = (230, 126, 34), (20, 20, 20), (130, 80, 223), (110, 118, 129)
OF_AXIS = np.array([(220, 38, 38), (22, 163, 74), (37, 99, 235)], dtype=np.uint8)  # x, y, z
N_PER_M = 1000.0  # length of a force's arrow
FAR_M, HIPS_M = 3.2, 0.8  # the camera from the person, and what it looks at above the floor
VIEWS = {"front": (1.0, 0.15, 0.0), "side": (0.0, 0.15, 1.0), "top": (-0.01, 1.0, 0.0), "corner": (0.6, 0.4, 0.7)}
LAYERS = (
    *("Names", "Recorded markers", "Repaired markers", "Figure", "Head, centre of mass", "Joint centres", "Axes"),
    *("Plates", "Forces", "Soles"),
)


class Scene:
    """What a browser shows of one trial."""

    def __init__(self, server: viser.ViserServer) -> None:
        self.server, self.scene = server, server.scene
        self.scene.set_up_direction("+y")
        self.hidden: set[str] = {"Names", "Recorded markers", "Axes"}
        self.trial: ShownTrial | None = None
        self.frame = 0
        self.drawn: dict[str, list[viser.SceneNodeHandle]] = {}

    def show(self, trial: ShownTrial, frame: int) -> None:
        """Show a trial instead of the one before."""
        self.trial = trial
        with self.server.atomic():
            self.scene.reset()
            self.drawn = {layer: [] for layer in LAYERS}
            self.lab = self.scene.add_frame("/lab", show_axes=False)
            self._put_into_middle(trial.centres, trial.recorded)
            self.scene.add_grid("/lab/floor", 16, 16, plane="xz", cell_size=0.5, section_size=1.0)
            self._draw_plates(trial)
            self.draw(frame)

    def draw(self, frame: int) -> None:
        """Draw a frame of the trial."""
        if (trial := self.trial) is None:
            return
        self.frame = frame
        with self.server.atomic():
            self._points("Recorded markers", trial.recorded[frame], RECORDED, 0.016)
            self._points("Repaired markers", trial.repaired[frame], REPAIRED, 0.02)
            self._points("Joint centres", trial.centres[frame], CENTRES, 0.03)
            self._points("Head, centre of mass", trial.round[frame], OF_SIDE["pelvis"], 0.06)
            self._lines("Figure", trial.figure[frame], [OF_SIDE[side] for side in trial.sides], 0.014)
            self._lines("Axes", trial.axes[frame], np.resize(OF_AXIS, (trial.axes.shape[1], 3)), 0.006)
            self._lines("Soles", soles(trial, frame), self._sole_colours(trial, frame), 0.01)
            self._draw_forces(trial, frame)
            self._draw_names(trial, frame)

    def switch(self, layer: str, *, on: bool) -> None:
        """Show or hide a layer."""
        (self.hidden.discard if on else self.hidden.add)(layer)
        self.draw(self.frame)
        for node in self.drawn.get(layer, []):
            node.visible = on

    def look(self, client: viser.ClientHandle, name: str) -> None:
        """Turn a browser's camera to the middle from one of :data:`VIEWS`."""
        at = np.array([0, HIPS_M, 0])
        client.camera.up_direction = (0.0, 1.0, 0.0) if name != "top" else (1.0, 0.0, 0.0)
        client.camera.position = at + FAR_M * np.array(VIEWS[name])
        client.camera.look_at = at

    def follow(self) -> None:
        """Move the lab so that the person stays in the middle: the camera is the browser's."""
        if self.trial is not None:
            self._put_into_middle(self.trial.centres[self.frame], self.trial.recorded[self.frame])

    def _put_into_middle(self, *clouds: Array) -> None:
        """Move the lab so that the middle of the first points (..., 3) that are seen is in the middle."""
        for points in clouds:
            seen = points.reshape(-1, 3)[np.isfinite(points.reshape(-1, 3)).all(axis=1)]
            if len(seen):
                self.lab.position = -seen.mean(axis=0) * [1, 0, 1]
                return

    def _remove(self, layer: str) -> None:
        self.scene.remove_by_name(f"/lab/{layer}")
        self.drawn[layer] = []

    def _points(self, layer: str, points: Array, colour: Colour, size: float) -> None:
        points = points[np.isfinite(points).all(axis=1)]
        if layer in self.hidden or not len(points):
            self._remove(layer)
            return
        self.drawn[layer] = [
            self.scene.add_point_cloud(
                f"/lab/{layer}", points, colour, point_size=size, point_shape="circle", precision="float32"
            )
        ]

    def _lines(self, layer: str, lines: Array, colours: Sequence[Colour] | NDArray[np.uint8], width: float) -> None:
        known = np.isfinite(lines).all(axis=(1, 2))
        if layer in self.hidden or not known.any():
            self._remove(layer)
            return
        shades = np.repeat(np.asarray(colours, dtype=np.uint8)[known][:, None], 2, axis=1)
        self.drawn[layer] = [self.scene.add_line_segments(f"/lab/{layer}", lines[known], shades, thickness=width)]

    def _draw_plates(self, trial: ShownTrial) -> None:
        visible = "Plates" not in self.hidden
        for number, corners in zip(trial.plates, trial.corners, strict=True):
            edges = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
            name, middle = f"/lab/plates/{number}", corners.mean(axis=0)
            up = -0.03 * plate_axes(corners)[:, 2]
            self.drawn["Plates"] += [
                self.scene.add_line_segments(name, edges, PLATES, thickness=0.012, visible=visible),
                self.scene.add_label(f"{name}/number", f"plate {number}", position=middle + up, visible=visible),
            ]

    def _draw_forces(self, trial: ShownTrial, frame: int) -> None:
        at, force = trial.pressure[frame], trial.force[frame]
        known = np.isfinite(at).all(axis=1) & np.isfinite(force).all(axis=1)
        if "Forces" in self.hidden or not known.any():
            self._remove("Forces")
            return
        colours = [self._colour_of(trial, frame, number) for number in trial.plates]
        arrows = np.stack([at, at + force / N_PER_M], axis=1)[known]
        shades = np.array(colours, dtype=np.uint8)[known]
        arrow = self.scene.add_arrows(
            "/lab/Forces", arrows, shades, shaft_radius=0.01, head_radius=0.025, head_length=0.06
        )
        self.drawn["Forces"] = [arrow]

    @staticmethod
    def _colour_of(trial: ShownTrial, frame: int, plate: int) -> Colour:
        contact = trial.contact_at(trial.time[frame], plate)
        return OF_VERDICT.get(contact.verdict, GREY) if contact else GREY

    def _sole_colours(self, trial: ShownTrial, frame: int) -> list[Colour]:
        """Return the colour of the verdict on each line of the soles; grey while no stance is on a plate."""
        seconds, colours = trial.time[frame], []
        for side, outline in trial.soles.items():
            now = (one for one in trial.contacts if one.side == side and one.start <= seconds <= one.end)
            verdict = next((one.verdict for one in now), NOT_ON_A_PLATE)
            colours += [OF_VERDICT.get(verdict, GREY)] * outline.shape[1]
        return colours

    def _draw_names(self, trial: ShownTrial, frame: int) -> None:
        """Show the names of the markers, which move with each frame only while they are shown."""
        self.scene.remove_by_name("/lab/names")
        if "Names" in self.hidden:
            return
        for name, point in zip(trial.marker, trial.recorded[frame], strict=True):
            if np.isfinite(point).all():
                self.scene.add_label(f"/lab/names/{name}", name, position=point, font_screen_scale=0.7)


def soles(trial: ShownTrial, frame: int) -> Array:
    """Return the outlines of the soles at a frame (line, 2, 3)."""
    return np.concatenate([np.empty((0, 2, 3)), *(lines[frame] for lines in trial.soles.values())])
