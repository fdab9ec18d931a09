"""README of the files for OpenSim."""

from .session_files import Choices

TEXT = """\
# Files for OpenSim

{model}The next three commands, here for one trial; the others are alike. A trial without a valid stance has no
`_id.xml`: leave the third one out.

```sh
cd {session}
opensim-cmd run-tool scale.xml
opensim-cmd run-tool {trial}_ik.xml
opensim-cmd run-tool {trial}_id.xml
```

Without `opensim-cmd` (as after `pip install opensim`) the same in Python:

```python
import opensim

opensim.ScaleTool("scale.xml").run()
opensim.InverseKinematicsTool("{trial}_ik.xml").run()
opensim.InverseDynamicsTool("{trial}_id.xml").run()
```

| file of a session | content |
|---|---|
| `scale.trc`, `scale.xml` | markers of the static trial; Scale writes `scaled_model.osim` |
| `TRIAL.trc`, `TRIAL_ik.xml` | markers of a walk; InverseKinematics writes `TRIAL_ik.mot` |
| `TRIAL_grf.mot`, `TRIAL_grf.xml` | ground reaction on each foot, and how it loads `calcn_r` and `calcn_l` |
| `TRIAL_id.xml` | InverseDynamics writes `TRIAL_id.sto`: joint moments |
| `TRIAL_angles.mot` | joint angles of this program, with `--angles` |

- Axes are OpenSim's and this program's: x forward, y up, z to the right. Markers are in mm, all else in m, N, N m, s
  and degrees.
- **Only valid stances are loaded.** In the others of `stances.tsv` (`loaded` is `no`) the foot has no ground reaction:
  moments of that leg, and residuals at the pelvis, mean nothing there.
- Markers are not filtered, but gaps, spikes and exchanged labels are repaired as in the study. InverseDynamics filters
  the joint angles, with the -3 dB point of the study's markers; the cut-off in its setup is higher, because OpenSim's
  filter has -6 dB at its cut-off.
- Ground reactions have no baseline. {filtered}
- InverseKinematics and InverseDynamics run from the first to the last frame in which the study poses the legs.
- `RHJC`, `RKJC`, `RAJC` and `LHJC`, `LKJC`, `LAJC` are no markers, but joint centres of the study (hip, knee, ankle).
  InverseKinematics does not fit them, unless `--markers` gives them a weight.
- InverseKinematics fits no marker that the static trial does not show: Scale cannot place it on the model.
- scale.xml scales pelvis, thighs, shanks and feet by distances of markers in the static trial, and the bodies `torso`,
  `humerus`, `ulna`, `radius` and `hand` if the model of `--model` has them and their markers; other bodies keep their
  size. Thighs are measured from the hip centres if `--model` has markers there, else from the ASIS: then look at them.
  Distances are means over the longest time in which no marker is hidden, of two frames if the person moves. Where there
  is no scale.xml, put a scaled model there yourself.
- Exporting again replaces these files: keep setup files that you edit under other names.
"""
PLACE = "Put your generic model here as `{name}`, with its markers on it.\n\n"
FILTERED = "They are filtered as in the study."
UNFILTERED = "They are not filtered, neither here nor by OpenSim; `--filter-forces` filters them as\n  in the study."


def readme(session: str, trial: str, choices: Choices) -> str:
    """Return the text; the commands are those for one trial."""
    return TEXT.format(
        model="" if choices.model else PLACE.format(name=choices.model_path.name),
        session=session or "SESSION",
        trial=trial or "TRIAL",
        filtered=FILTERED if choices.filter_forces else UNFILTERED,
    )
