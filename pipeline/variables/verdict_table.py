"""The table of all verdicts on stances and trials: severity, sentence, limit and its source, remedy, by code.

A code keeps its meaning in later versions. ``docs/verdicts.md`` is made from this table.
"""

from string import Formatter
from typing import Final, Literal, NamedTuple

REFUSES: Final = "refuses"  # the kinetics of a stance: they are not in the results
DOUBTS: Final = "doubts"  # them: they are in the results, marked, and by default in no mean
REJECTS: Final = "rejects"  # a trial
BY_HAND, LEG_REFUSED = "left_out_by_hand", "leg_refused"
REFUSED_BY_HAND, ACCEPTED = "refused_by_hand", "accepted_by_hand"
LEG, BOTH_LEGS = "leg", "both"  # name of the value that says which leg a verdict is about; that of both


class Row(NamedTuple):
    """What a verdict of one code means."""

    severity: Literal["refuses", "doubts", "rejects"]
    sentence: str  # with the values by name; of a trial what its problem is in general: the words are the problem's
    limit: str  # when the verdict is given, with numbers by the names of constants and settings in ``source``
    remedy: str = ""  # what may help; empty if nothing does, or the sentence says it
    source: tuple[str, ...] = ()  # settings and constants that hold the limit; beside them is where they are from
    see: str = ""  # section of the documentation
    # of a refusal: a limit, a law of most steps or a place was judged, so that a person may overrule it who has seen
    # the step; else the numbers are impossible, or it is stated by hand already
    judged: bool = False
    of_step: bool = False  # it lies in the step or where the recording ends: nothing is wrong with plates or markers
    general: str = ""  # words of several together, if not the sentence with the values that they share
    of_leg: bool = False  # a doubt about a trial that may be about one leg: its values say which, or both

    @property
    def values(self) -> list[str]:
        """Return the names of the values in the sentence."""
        return [name for _, name, _, _ in Formatter().parse(self.sentence) if name]


WITHOUT_STATIC: Final = "no angles, moments and powers, only contacts, ground forces, times and distances"
_MISREAD = "if plates are right and the person walks like this, set contacts.misread_plates to ignore"
_PLATES, _CHECKS = "steps.contacts.plate_faults", "steps.contacts.contact_checks"
_HANDS = "if hands bear weight, set cycles.hands_bear_weight, or the column of trials.tsv"
_LEG = "choose another body model, correct labels and joint widths"
_PERSON = "no person has such a leg: the measure, its value and what is expected"
# fmt: off
VERDICTS: dict[str, Row] = {
    # Stances without a usable ground force
    "no_plate": Row(REFUSES, "no plate",
        "the foot was not on a plate; normal for the steps at both ends of a walk",
        source=("contacts.threshold_n", "contacts.min_contact_s")),
    "no_plate_left": Row(REFUSES, "no plate ({left_out})",
        "the same, where a plate is left out: `plates_left_out` of the trial has the cause",
        "mend what the cause names"),
    "no_gait_event": Row(REFUSES, "no gait event seen",
        "plates, file and motion show no step; the foot may be standing"),
    "foot_without_markers": Row(REFUSES, "heel or toe marker of the foot absent",
        "the foot is not in the file", "label the markers"),
    "other_foot_without_markers": Row(REFUSES,
        "the other foot has no markers, and the plate is loaded for longer than this foot rests",
        "the other foot may be on the plate, as it is loaded by more than {STEP_S:g} s longer than a rest. Its toes or "
        "heel on the edge of a plate cannot be found without markers",
        "label the other foot, or name the plate in `plates_left` or `plates_right`",
        ("steps.contacts.foot_on_plate.STEP_S",), judged=True),
    "feet_not_seen": Row(REFUSES, "feet not seen during the contact",
        "the heel or toe marker of the foot is missing while the plate was loaded, and the other foot does not rest "
        "there", "fill the gap",
        ("steps.contacts.foot_on_plate.MOSTLY_AWAY", "steps.contacts.foot_on_plate.UNDER_M"), judged=True),
    "contact_too_short": Row(REFUSES, "too short for the marker rate", "the contact contains no marker frame"),
    "plate_signal_missing": Row(REFUSES, "plate signal missing during the contact",
        "the plate's channels have gaps", "export again"),
    "two_feet_on_plate": Row(REFUSES, "two feet on the plate",
        "the other foot, heel to toe tips, was on the ground and over the plate for more than {SHARED_S:g} s, or while "
        "this foot swings for more than {LEFT_S:g} s", "another trial",
        ("steps.contacts.foot_on_plate.SHARED_S", "steps.contacts.foot_on_plate.LEFT_S", "plates.sole.HALF_SOLE_M"),
        of_step=True),
    "foot_on_two_plates": Row(REFUSES, "a part of the foot may be on another plate, which the other foot shares",
        "at this time both feet were on another plate, as for `two_feet_on_plate`: which part of the load there is "
        "this foot's is not known", "another trial",
        ("steps.contacts.foot_on_plate.SHARED_S", "steps.contacts.foot_on_plate.LEFT_S"), of_step=True),
    "foot_partly_off_plate": Row(REFUSES, "foot partly off the plate",
        "heel, ball or big toe rested beyond the edge by more than the margin, or the plate was loaded for only part "
        "of the stance",
        "another trial; check the plate's corners; if the foot was on it, set `plates_left` or `plates_right`",
        ("contacts.edge_margin_m", "steps.contacts.foot_on_plate.SHARED_S"), judged=True, of_step=True),
    "plate_out_of_time": Row(REFUSES, "contact {ms:.0f} ms away from the foot's: plate and markers are not in time",
        "the plate is loaded and unloaded this many milliseconds before or after the foot comes to rest and moves "
        "again, and the force's line passes the pelvis as much too early or late: more than the limit, and, all "
        "plates together, than 40 ms", "check the synchronisation",
        ("contacts.max_time_offset_s", "steps.contacts.time_offset.SURE_SPREADS",
            "steps.contacts.time_offset.OF_PEOPLE_S"), judged=True),
    "plate_drifts": Row(REFUSES, "the plate's baseline drifts by {newtons:.0f} N",
        "while the plate was loaded, its offset changed by more than the limit at an unknown time",
        "let the plate warm up, zero it before each trial", ("contacts.max_drift_n",), judged=True),
    "force_off_foot": Row(REFUSES,
        "centre of pressure {cm:.0f} cm from the foot: two feet, or a misplaced plate",
        "the centre of pressure is not under the nearest foot: two feet, or a plate that is not where the file says",
        "check the plate's corners; of a MOT file its times, the unit of its points, and that torques are about these",
        ("contacts.max_cop_distance_m", "steps.contacts.foot_on_plate.FAR_M"), judged=True),
    "force_off_ankle": Row(REFUSES, "force {cm:.0f} cm from the ankle: a misplaced plate",
        "the line of the force passes the ankle at more than the limit, in the median", "check the plate's corners",
        ("contacts.max_lever_arm_m",), judged=True),
    "plate_given_to_other_foot": Row(REFUSES, "left out in trials.tsv",
        "the plate is not among those that `plates_left` or `plates_right` names", judged=True, of_step=True),
    "foot_not_over_given_plate": Row(REFUSES,
        "given to this foot in trials.tsv, but the foot is not over the plate",
        "the foot is never over the plate that `plates_left` or `plates_right` gives it, which is impossible",
        "correct `plates_left` or `plates_right`"),
    "plate_faulty": Row(REFUSES, "plate {number}: {fault}",
        "in this trial a channel of the plate is dead, empty, wraps round its converter's range or is clipped; the "
        "first one is named, `plates_left_out` of the trial names all",
        "check cables, amplifier and range; `gaitlab check` lists these plates",
        ("plates.channel_faults.STEP_N", "plates.channel_faults.WRAPPED", "plates.channel_faults.CUT_SHARE",
            "plates.channel_faults.LEAP_M", "plates.channel_faults.SHEAR")),
    "plate_drops_out": Row(REFUSES,
        "the signal of plate {number} breaks {when}: its load, or its moment in 0.2 m, jumps by {newtons:.0f} N from "
        "one sample to the next",
        "the load changes between two samples by {TIMES_BESIDE:g} times as much as in the 5 ms before and after, and "
        "by {STEP_LOADED:percent} of the plate's largest load or more; where it is unloaded on one side, its vertical "
        "force by {STEP_UNLOADED:percent} and {ZEROED_N:g} N: no foot does that. Below {LOWEST_RATE_HZ:g} Hz it is not "
        "judged",
        "check cables, power and transmission of the plate",
        ("plates.signal_breaks.TIMES_BESIDE", "plates.signal_breaks.STEP_LOADED", "plates.signal_breaks.STEP_UNLOADED",
            "plates.signal_breaks.ZEROED_N", "plates.signal_breaks.LOWEST_RATE_HZ"), judged=True),
    "plate_loses_time": Row(REFUSES,
        "samples of plate {number} are lost at {second:.3f} s: its load, or its moment in 0.2 m, jumps by "
        "{newtons:.0f} N, as if {ms:.0f} ms were missing",
        "the same as for `plate_drops_out`, and one time explains the jumps of all forces and moments by their slopes",
        "check the converter, and what else the computer did while it recorded",
        ("plates.signal_breaks.UNEXPLAINED",), judged=True),
    "plate_pushes_down": Row(REFUSES,
        "plate {number} pushes down by up to {newtons:.0f} N: are its corners in the wrong order, or the signs of its "
        "channels turned?",
        "the vertical force of the plate is more than {LEAST_PEAK_N:g} N and points down",
        "check corners and signs", (f"{_PLATES}.placement.LEAST_PEAK_N",)),
    "plate_turned": Row(REFUSES, "plate {number} seems {how}: {away}",
        "the force of the steps on the plate, in all trials of the session, passes far from the pelvis or presses "
        "beside the foot, and would not with another order of its corners: exp(3) times likelier",
        f"check the corners. `plates_left` and `plates_right` name the foot and do not override this; {_MISREAD}",
        (f"{_PLATES}.placement.MARGIN", f"{_PLATES}.placement.FITTING"), "theory.md#8-force-plates", judged=True),
    "plate_shifted": Row(REFUSES,
        "plate {number} seems shifted by {cm:.0f} cm: that far from foot and pelvis is the force, measured by {by}",
        "the force presses elsewhere under the foot, and passes elsewhere by the pelvis, than on the trial's other "
        "plates or, with one plate, than in usual steps", f"measure the plates' corners; {_MISREAD}",
        (f"{_PLATES}.placement.SHIFT_M", f"{_PLATES}.placement.SHIFT_MARGIN"), "theory.md#8-force-plates", judged=True),
    "plates_shifted": Row(REFUSES, "plates {numbers} seem shifted against each other by {cm:.0f} cm",
        "the same, where either of two plates may be the one", f"measure the plates' corners; {_MISREAD}",
        (f"{_PLATES}.placement.SHIFT_M", f"{_PLATES}.placement.EQUAL_MARGIN"), "theory.md#8-force-plates", judged=True),
    "all_plates_shifted": Row(REFUSES,
        "all plates together seem shifted by {cm:.0f} cm: that far from foot and pelvis are their forces; were the "
        "cameras calibrated again, with the origin elsewhere?",
        "the same, on all plates alike and by feet and pelvis alone: 1 in 1000 by chance",
        f"were the cameras calibrated again? Measure the corners again; {_MISREAD}",
        (f"{_PLATES}.placement.ALONE_MARGIN",), "theory.md#8-force-plates", judged=True),
    "plate_forces_wrong": Row(REFUSES,
        "plate {number} measures forces that no step has: its force {how}, {cause}",
        "fewer than {WRONG:chance} steps on a sound plate press so far from the part of the sole that bears them, lean "
        "so far from the pelvis, or twist the ground so much, all of it together. The words say what is seen, and "
        "which channel, if another reading of it is likely",
        f"check signs, order and scales of the plate's channels; {_MISREAD}",
        (f"{_PLATES}.forces.WRONG",), "theory.md#8-force-plates", judged=True),
    "frames_lost": Row(REFUSES,
        "all markers jump together at {second:.2f} s: frames are lost or repeated, and the motion before and after "
        "does not join; export the trial again, or record another",
        "all markers jump together from one frame to the next; whether the plates lost the same time is not known",
        source=("steps.clean.impossible_motion.TIMES_USUAL", "steps.clean.impossible_motion.CHANGE_M_S2")),
    # Stances without usable kinetics
    LEG_REFUSED: Row(REFUSES, "{reason}", f"{_PERSON}, in the session or in one trial", _LEG,
        ("body.plausibility.LIMITS", "body.plausibility.OFTEN"),
        "reliability.md#legs-that-no-person-has", general="a leg is refused in the whole trial"),
    "no_static_trial": Row(REFUSES,
        f"the session has no static trial that can be used: {WITHOUT_STATIC}",
        "no row of trials.tsv has the role static, or its recording is rejected; nothing else speaks against the "
        "contact, so that its ground force stays in the results", "list one with role static",
        see="how_to.md#there-is-no-static-trial", of_step=True),
    "leg_implausible": Row(REFUSES, "{what} in {percent:.0f} % of the stance; {remedy}",
        f"{_PERSON}, in the middle two thirds of a stance; of a trial, on both sides and throughout", _LEG,
        ("body.plausibility.LIMITS", "steps.kinematics.leg_check.SHORTEST_S", "steps.cycles.verdicts.LIKE_SWING"),
        "reliability.md#legs-that-no-person-has", general="a leg is none that a person has"),
    "markers_not_seen": Row(REFUSES,
        "markers not seen during the stance, of which {percent:.0f} % is known: {markers}; fill the gap or use another "
        "trial",
        "the ankle moment is known in less than {LEAST_SEEN:g} % of the stance, or unknown for another reason than a "
        "gap, too; the markers are named", source=("steps.cycles.verdicts.LEAST_SEEN",),
        see="reliability.md#the-sound-part-of-a-stance"),
    "leg_without_pose": Row(REFUSES,
        "the markers that are seen do not make a leg of the static trial: {why}",
        "no marker is hidden, but some lie far (linked legs: {FARTHEST_M:mm}) from where the static trial puts them",
        "is the static trial of this person, and has no marker moved since?",
        ("steps.kinematics.linked_leg.FARTHEST_M",)),
    "near_an_end": Row(REFUSES,
        "only {percent:.0f} % of the stance is known: the rest is not recorded, or within {ms:.0f} ms of an end of the "
        "recording or of a gap, where accelerations are uncertain; record longer, or fill the gap",
        "the ankle moment is known in less than {LEAST_SEEN:g} % of the stance, as filters make accelerations "
        "uncertain near where it begins or ends",
        source=("steps.cycles.verdicts.LEAST_SEEN", "steps.clean.marker_filters.uncertain_end_s"),
        see="reliability.md#the-sound-part-of-a-stance", of_step=True),
    "formulations_differ": Row(REFUSES, "the formulations of the joint moments differ by {n_m:.1e} N m",
        "by more than the limit: the trial's kinetics are unreliable", "report it", ("cycles.max_disagreement_n_m",)),
    "force_too_low": Row(REFUSES, "peak vertical force only {body_weights:.2f} body weights",
        "the peak is below the limit: shuffling, a hand on a rail, a wrong body mass", "check the mass",
        ("cycles.min_peak_force_body_weights",), judged=True),
    "momentum_disagrees": Row(REFUSES,
        "the plate shows {percent:.0f} % of the force that carries {mass:.1f} kg: a wrong gain or body mass, or a load "
        "that it does not measure; if hands bear it, set cycles.hands_bear_weight",
        "over a step, or while the other foot swings, mean vertical force and momentum of the body disagree by more "
        "than five standard deviations of sound walks", f"check the body mass and the plate's gain; {_HANDS}",
        ("steps.cycles.momentum.single_support.REFUSED_SPREADS", "steps.cycles.momentum.single_support.SCALES",
            "steps.cycles.momentum.single_support.SWAY_M_S"),
        "reliability.md#momentum-of-the-body", judged=True),
    "direction_disagrees": Row(REFUSES,
        "the horizontal force points against the acceleration of the body ({momentum_along:.1f} m/s2 along the walk, "
        "{momentum_aside:.1f} across): wrong signs or order of the plate's channels, or a plate turned in the file",
        "in single support the horizontal force brakes where the body speeds up, by more than twice what trunk and "
        "arms can turn", "check the plate's channels and corners",
        ("steps.cycles.momentum.single_support.ALONG_M_S2", "steps.cycles.momentum.single_support.ASIDE_M_S2",
            "steps.cycles.momentum.single_support.REFUSED"),
        "reliability.md#momentum-of-the-body", judged=True),
    "residual_disagrees": Row(REFUSES,
        "forces and motion of the body miss each other by {residual_force_rms_percent:.0f} % of weight and "
        "{residual_moment_rms_percent:.0f} % of weight times height: a wrong plate, or markers without the motion",
        "the pelvis residual is more than twice as large as trunk and arms can make it", "check plates and markers",
        ("steps.cycles.momentum.single_support.FORCE", "steps.cycles.momentum.single_support.MOMENT",
            "steps.cycles.momentum.single_support.SEEN_FORCE", "steps.cycles.momentum.single_support.SEEN_MOMENT",
            "steps.cycles.momentum.single_support.REFUSED"),
        "theory.md#pelvis-residual", judged=True),
    "body_momentum_disagrees": Row(REFUSES,
        "in the session, forces and motion of the whole body cannot be of one body: {causes}",
        "over all intervals with known loads, forces change momentum and angular momentum of the whole body otherwise "
        "than it moves, by more than {REFUSED_SPREADS:g} standard deviations of what sound laboratories and tables of "
        "segments explain. All causes are named that explain it as well. Only where trunk and arms are seen",
        "check levels, corners, trigger and calibration of plates and markers",
        ("steps.cycles.momentum.single_support.REFUSED_SPREADS", "steps.cycles.momentum.unknowns.SHIFT_M",
            "steps.cycles.momentum.unknowns.TILT", "steps.cycles.momentum.unknowns.AHEAD_M",
            "steps.cycles.momentum.unknowns.DELAY_S"),
        "reliability.md#momentum-of-the-body", judged=True, general="in the session, forces and motion of the whole "
        "body cannot be of one body"),
    "no_stance": Row(REFUSES, "no stance at the start of the cycle",
        "of a cycle: the file's events and the contacts contradict each other"),
    BY_HAND: Row(REFUSES, "left out by hand: {reason}", "corrections.tsv lists the cycle or stance",
        see="study_directory.md#correctionstsv", of_step=True),
    REFUSED_BY_HAND: Row(REFUSES, "refused by hand: {reason}", "corrections.tsv lists the contact",
        see="study_directory.md#correctionstsv"),
    # Doubts
    ACCEPTED: Row(DOUBTS, "accepted by hand: {reason}",
        "a person has accepted the contact: what it was refused or doubted for stands beside it, and it is used in "
        "all means", see="study_directory.md#correctionstsv"),
    "marker_moved": Row(DOUBTS,
        "{marker} lies {mm:.0f} mm {direction} the place that the other markers of the legs give it: has it moved "
        "since the static trial, or is that of another person?",
        "one marker lies more than {LARGEST_M:mm} from where the other markers of the legs put it, on average over the "
        "walk and allowing for what it hides by turning its segment: it was moved after the static trial, or is "
        "mislabelled, or the static trial is that of another person",
        "look at the named marker in both trials; repeat the static trial, or leave the marker out of the body model",
        ("steps.kinematics.marker_check.LARGEST_M",), "reliability.md#a-markers-place", of_leg=True),
    "plate_baseline_unknown": Row(DOUBTS,
        "plate {number} is not seen unloaded {when} the contact, and its offset changes elsewhere, or nothing shows "
        "whether it does: its offset under the load is not known",
        "the recording begins or ends under the load or within {UNLOADED_S:g} s of it, and the offset under the load "
        "may be so far from the one that is seen that a moment at the hip changes by more than {UNKNOWN_N_M_KG:g} "
        "N m/kg. This is judged by how well one side of the plate's other loads in the session predicts the other, "
        "or, without these, by the range of the forces and moments that it reads unloaded in a second or more of the "
        "recording; the forces' may be {WANDERING_N:g} N at most",
        "record a second of the unloaded plate before and after the step; let it warm up",
        (f"{_CHECKS}.UNKNOWN_N_M_KG", f"{_CHECKS}.UNLOADED_S", f"{_CHECKS}.WANDERING_N")),
    "mass_disagrees": Row(DOUBTS, "the body mass is wrong: {what}",
        "the body mass differs from what plates show under a standing person by more than {WRONG_IN_STANDING:percent}, "
        "or from steps by more than {WRONG_IN_WALKING:percent}: four standard deviations of gain, offset and drift of "
        "plates in use (1.5 % each), of clothes, shoes and the day (2 %), and of the mean force of two steps (2.5 %)",
        "weigh the person; correct `mass_kg`",
        ("person.size_findings.WRONG_IN_STANDING", "person.size_findings.WRONG_IN_WALKING",
            "steps.cycles.verdicts.CARRIES_THE_MASS")),
    "joint_widths_exchanged": Row(DOUBTS,
        "by the widths the {side} knee's centre is {knee:.0f} mm from its marker, the ankle's {ankle:.0f} mm: are knee "
        "and ankle width exchanged?",
        "widths of knee and ankle put the centre of the knee nearer to its marker than that of the ankle. The "
        "shank tapers from the condyles to the malleoli: nobody's ankle is as wide as the knee",
        "correct the widths in participants.tsv, or in the files",
        ("person.size_findings.LEAST_KNEE_PER_ANKLE",)),
    "knee_marker_shaken": Row(DOUBTS,
        "in single support the {side} knee marker shakes by {mm:.1f} mm, {times:.1f} times as much as in the rest of "
        "the recording: has another program filled a gap?",
        "above {FAST_HZ:g} Hz its distance to the hip centre, or to another marker of thigh or shank, changes in the "
        "middle two thirds of the stance by more than {LEAST_M:mm}, and {TIMES:g} times as much as at any other time. "
        "Not judged where clusters pose the leg, or the rest that is known lasts less than {LEAST_REST:g} stances",
        "look at the marker's path; leave the gap unfilled",
        ("steps.cycles.knee_checks.FAST_HZ", "steps.cycles.knee_checks.TIMES", "steps.cycles.knee_checks.LEAST_M",
            "steps.cycles.knee_checks.LEAST_REST")),
    "plates_not_in_time": Row(DOUBTS,
        "plates and markers of the session are {ms:.0f} ms apart (standard error {error:.0f}): check the trigger, and "
        "for filters that delay the forces",
        "three witnesses of time agree that the plates of the session are more than {doubted_time_offset_s:ms}, and "
        "{SPREADS:g} standard errors, before or behind the markers (`time_offset` in contacts.nc); or two of a trial "
        "show more than `contacts.max_time_offset_s`, but less than 40 ms",
        "check the trigger and delays of cameras and amplifiers; use a filter without delay; or set "
        "`contacts.time_offset: correct`",
        ("contacts.doubted_time_offset_s", "contacts.max_time_offset_s", "steps.contacts.time_offset.SPREADS")),
    "markers_noisy": Row(DOUBTS,
        "markers are noisy by {mm:.1f} mm, which changes the hip moment by some {error:.2f} N m/kg at this rate and "
        "cut-off",
        "white noise of the markers changes the hip moment by more than {LARGEST_N_M_KG:g} N m/kg: 1.6 mm at 100 "
        "frames a second and 10 Hz, 2.0 mm where thigh and shank have {CLUSTER:g} markers or more",
        "calibrate the cameras; lower `clean.marker_cutoff_hz`",
        ("steps.clean.impossible_motion.LARGEST_N_M_KG", "steps.clean.impossible_motion.IN_CLUSTERS",
            "steps.clean.impossible_motion.CLUSTER"), "reliability.md#noise-of-markers"),
    "frames_lost_before": Row(DOUBTS,
        "all markers jump together at {second:.2f} s, before the contact: frames are lost or repeated, so that plates "
        "and markers may be out of step since then",
        "the stance is later in the trial than a jump of all markers from one frame to the next, and the plates do not "
        "show that they lost the same time: by when feet come to rest after their contacts, before and after the jump, "
        "to {doubted_time_offset_s:ms} with {SPREADS:g} standard errors",
        "export the trial again; accept the contact if force and foot are in step",
        ("steps.clean.impossible_motion.TIMES_USUAL", "steps.clean.impossible_motion.CHANGE_M_S2",
            "contacts.doubted_time_offset_s", "steps.contacts.time_offset.SPREADS",
            "steps.contacts.time_offset.OF_STEPS_S")),
    "plate_time_lost_before": Row(DOUBTS,
        "samples of plate {number} are lost at {second:.3f} s, before the contact ends: the plates may be some "
        "{ms:.0f} ms ahead of the markers since then",
        "the stance ends after samples that a plate has lost", "check the converter; record again",
        ("plates.signal_breaks.UNEXPLAINED",)),
    "markers_frozen": Row(DOUBTS,
        "all markers stand still from {first:.2f} to {last:.2f} s, where their motion is filled in",
        "all markers repeat one frame for more than {FILLED_S:ms} while the body moves, as in a drop-out of the "
        "capture; the motion there is filled in", "export the trial again; look at its curves there",
        ("steps.contacts.contact_checks.FILLED_S", "steps.clean.impossible_motion.MOVING_M_S")),
    "static_unlike": Row(DOUBTS,
        "distances between markers differ from the static trial's by {mm:.0f} mm: another person's static trial, or "
        "markers moved between the two",
        "distances between markers of one segment in the static trial are out of the range that they take in the "
        "walk, by more than {LARGEST_M:mm} (root mean square): lengths and widths of another person, or markers that "
        "were moved between the two trials", "choose the static trial of this session; label both alike",
        ("steps.kinematics.witnesses.LARGEST_M",)),
    "angles_unlike_file": Row(DOUBTS,
        "{what} differs by {degrees:+.0f} degrees from the angle in the file, and the other leg does not: has a marker "
        "moved, or are sizes wrong?",
        "a joint angle of one leg differs by more than {LARGEST_DEG:g} degrees from the one that Plug-in Gait stored "
        "in the file (median over the trial), while that of the other leg agrees within {AGREES_DEG:g}",
        "look at the markers of the named leg, its sizes in participants.tsv, and the static trial",
        ("steps.kinematics.witnesses.LARGEST_DEG", "steps.kinematics.witnesses.AGREES_DEG"),
        "reliability.md#angles-in-the-file", of_leg=True),
    "momentum_doubted": Row(DOUBTS,
        "{who} {percent:.0f} % of the force that carries {mass:.1f} kg, as of {agrees:.1f} kg: is a gain or the body "
        "mass wrong, or does something else bear weight?",
        "the same as for `momentum_disagrees`, but less, and by all stances of the session together: beyond "
        "{SPREADS:g} standard deviations", f"check the body mass and the plate's gain; {_HANDS}",
        ("steps.cycles.momentum.single_support.SPREADS",), "reliability.md#momentum-of-the-body"),
    "plate_late": Row(DOUBTS,
        "{what} against the other plates, as feet that rest and the body's momentum show",
        "over all steps of the session feet come to rest, and the body's vertical velocity follows the forces, as if "
        "one plate were late or early against the others: both together by more than {SPREADS:g} standard errors, each "
        "by more than {LIMIT:g}, and alike. All plates are named that explain it as well",
        "check filters, delays and trigger of its amplifier",
        ("steps.cycles.momentum.single_support.SPREADS", "steps.cycles.momentum.late_plates.LIMIT",
            "steps.cycles.momentum.late_plates.ALIKE"),
        "reliability.md#momentum-of-the-body",
        general="a plate is late or early against the others"),
    "body_momentum_doubted": Row(DOUBTS,
        "in the session, forces and motion of the whole body disagree: {causes}?",
        "the same as for `body_momentum_disagrees`, but less: beyond {SPREADS:g} standard deviations",
        "check levels, corners, trigger and calibration of plates and markers; does the person carry something?",
        ("steps.cycles.momentum.single_support.SPREADS", "steps.cycles.momentum.laboratory_faults.ALIKE"),
        "reliability.md#momentum-of-the-body",
        general="in the session, forces and motion of the whole body disagree"),
    "plate_forces_suspect": Row(DOUBTS,
        "plate {number} measures forces that {percent:.1g} % of sound steps have: its force {how}, {cause}",
        "the same as for `plate_forces_wrong`, but fewer than {SUSPECT:chance}; an odd foot marker, a trunk that leans "
        "far or crutches may be the reason",
        "look at the force's line beside the markers; if the plate is sound, `contacts.misread_plates: ignore`",
        (f"{_PLATES}.forces.SUSPECT",), "theory.md#8-force-plates"),
    "plate_channels_suspect": Row(DOUBTS,
        "channels of {plates} may be wrong ({channels}): read otherwise, the steps of the session press in the feet "
        "and pass the pelvis as those of people do",
        "signs or order of forces and moments, read otherwise, make the steps of the session agree in where they "
        "press in the feet and pass the pelvis: at most 1 in 700 sound plates by chance",
        "check the named channels' cables and signs, and the plate's corners; if they are right, "
        "`contacts.misread_plates: ignore`", (f"{_PLATES}.forces.GAIN",), "theory.md#8-force-plates"),
    "plate_shift_suspect": Row(DOUBTS,
        "plates {numbers} may be shifted by {cm:.0f} cm: that far from foot and pelvis are their forces",
        "the same as for `all_plates_shifted`, but 1 in 100 by chance",
        "look at the force's line beside the markers; if the plates are sound, `contacts.misread_plates: ignore`",
        (f"{_PLATES}.placement.DOUBT_MARGIN",), "theory.md#8-force-plates"),
    "force_beyond_toes": Row(DOUBTS,
        "late in the stance the force presses {cm:.0f} cm beyond the sole: was another foot, or a cane, on the plate?",
        "in the last fifth of a contact the centre of pressure is more than {BEYOND_M:mm} outside of the sole, where "
        "the foot stood, and also if the place of its push is taken off, by which markers and plate may be elsewhere",
        "look at the force beside both feet; if the gait is such, `contacts.misread_plates: ignore`",
        (f"{_CHECKS}.BEYOND_M", f"{_CHECKS}.FIRM", f"{_CHECKS}.PUSHES", f"{_CHECKS}.LATE",
            "plates.sole.TIP_SHARE", "plates.sole.HALF_SOLE_M"), "reliability.md#the-plate-on-its-own"),
    "plate_height_suspect": Row(DOUBTS,
        "the lower marker of the standing foot is {cm:.1f} cm over plate {number}: is the plate's height wrong?",
        "the lower of heel and toe marker of a standing foot is not {LOWEST_M:mm} to {HIGHEST_M:mm} over the plate",
        "check the height of the plate's corners, and the origin of markers and plates",
        (f"{_CHECKS}.LOWEST_M", f"{_CHECKS}.HIGHEST_M"), "theory.md#8-force-plates"),
    "direction_doubted": Row(DOUBTS,
        "the horizontal force points against the acceleration of the body ({momentum_along:.1f} m/s2 along the walk, "
        "{momentum_aside:.1f} across): are signs or order of the plate's channels wrong?",
        "the same as for `direction_disagrees`, but less", "check the plate's channels and corners",
        ("steps.cycles.momentum.single_support.ALONG_M_S2", "steps.cycles.momentum.single_support.ASIDE_M_S2"),
        "reliability.md#momentum-of-the-body"),
    "residual_doubted": Row(DOUBTS,
        "forces and motion of the body miss each other by {residual_force_rms_percent:.0f} % of weight and "
        "{residual_moment_rms_percent:.0f} % of weight times height: is a plate wrong, are the markers noisy, does the "
        "trunk lean?",
        "the same as for `residual_disagrees`, but less", "check plates and markers",
        ("steps.cycles.momentum.single_support.FORCE", "steps.cycles.momentum.single_support.MOMENT",
            "steps.cycles.momentum.single_support.SEEN_FORCE", "steps.cycles.momentum.single_support.SEEN_MOMENT"),
        "theory.md#pelvis-residual"),
    "rate_doubted": Row(DOUBTS,
        "the vertical force varies {momentum_variation:.2f} times as much as the body's motion demands: are the rate "
        "or unit of the markers wrong?",
        "in single support vertical force and acceleration differ in size by more than a factor of two, as by a wrong "
        "rate or unit, even if what the motion does not show is added to the smaller one",
        "check rate and unit of the markers",
        ("steps.cycles.momentum.single_support.UNSEEN_M_S2", "steps.cycles.momentum.single_support.SEEN_M_S2"),
        "reliability.md#momentum-of-the-body"),
    "part_unjudged": Row(DOUBTS,
        "{percent:.0f} % of the stance is known, and no law of momentum can judge that part",
        "the stance is known in part, near an end of the recording or of a gap. In that part neither is vertical "
        "momentum known over single support, nor the residual at the pelvis in {LEAST_JUDGED:g} % of the stance",
        "record longer, or fill the gap", ("steps.cycles.shown.LEAST_JUDGED",),
        "reliability.md#the-sound-part-of-a-stance"),
    # Trials
    "recording_unusable": Row(REJECTS, "the recording cannot be used",
        "the file is absent, truncated or damaged, is no C3D, TRC or MOT file, or shows two people",
        "export it again, or correct the column `file`"),
    "no_heading": Row(REJECTS, "where the person faces cannot be found",
        "neither pelvis nor feet show it, or they face opposite ways", "label these markers, or exclude the trial",
        ("steps.read.lab_axes.WALKED_M",)),
    "functional_trial_unusable": Row(REJECTS, "a functional trial cannot be used",
        "`calibrate.hip_centre` or `knee_axis` takes a motion, and its trial is absent, rejected, or moves too little",
        "record another one, or change that setting"),
    "mass_missing": Row(REJECTS, "no body mass", "neither tables nor files state it", "give `mass_kg`"),
    "size_missing": Row(REJECTS, "a size of the person is missing",
        "the body model or the segment table needs it", "measure it and add it to participants.tsv"),
    "segment_parameters_wrong": Row(REJECTS, "segment parameters cannot be used",
        "the rows of segments.tsv contradict each other or the body mass", "correct segments.tsv"),
    "markers_missing": Row(REJECTS, "markers are missing",
        "no leg can be built or followed with the markers that are seen",
        "label them, choose the body model with these labels, or exclude the trial"),
    "cutoff_too_high": Row(REJECTS, "the cut-off of a filter is too high for the trial's rate",
        "it is half of the rate or more", "lower it, or set it to null for no filter",
        ("clean.marker_cutoff_hz", "clean.force_cutoff_hz")),
    "labels_exchanged": Row(REJECTS, "labels of markers are exchanged",
        "two labels are exchanged from first to last frame, by the distances in the static trial, or beyond repair",
        "label them in the capture software and export again, or set `clean.exchanged_markers` to ignore",
        ("signals.marker_distances.WRONG_M", "signals.marker_distances.CURE")),
    "plate_number_unknown": Row(REJECTS, "trials.tsv names a plate that the file does not have",
        "`plates_left` or `plates_right` names it", "give numbers of the file's plates, or none"),
}
