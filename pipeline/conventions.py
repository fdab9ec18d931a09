"""Names, order, signs and constants that every room shares; imports nothing, so that every room may import it."""

STANDARD_GRAVITY_M_S2 = 9.80665
LONGEST_SWING_S = 1.0
SAME_STRIKE_S = 0.05  # two instants of one foot strike
LOADED_SHARE = 0.05  # of the largest force: below, a foot hardly presses, and points of application mean little

SIDES = ("left", "right")
SIDE_SIGN = {"left": -1.0, "right": 1.0}  # of a lateral coordinate (z points to the right on both sides)

CHAIN = ("foot", "shank", "thigh")
SEGMENTS = (*CHAIN, "pelvis")
UPPER_BODY = "upper_body"  # pelvis, trunk, head and arms as one, of both sides
MIDDLE = (UPPER_BODY, "pelvis", "thorax", "head")  # segments of both sides
ARM = ("upper_arm", "forearm", "hand")
FROM_PELVIS = SEGMENTS[::-1]
JOINTS = ("ankle", "knee", "hip")
FROM_HIP = JOINTS[::-1]
PROXIMAL = dict(zip(JOINTS, SEGMENTS[1:], strict=True))  # the segment on the proximal side of each joint
DISTAL = {"pelvis": "hip", "thigh": "knee", "shank": "ankle"}  # the joint at the distal end of each segment

CONVENTIONAL = "plug_in_gait"  # the value of kinematics.angle_convention for angles as Plug-in Gait defines them
ANGLES = ("flexion", "adduction", "rotation")  # about e1, e2, e3; adduction and rotation change sign with the side
FLEXION_SIGN = {"ankle": 1.0, "knee": -1.0, "hip": 1.0}  # of a right-handed turn about e1

LOADS = ("force", "moment")

NO_STATIC = "no_static_trial"  # code of a session without a model of the person: no angles, moments and powers

# index along the dimensions `joint`, `angle` and `axis`
ANKLE, KNEE, HIP = range(3)
FLEXION, ADDUCTION, ROTATION = range(3)
FORWARD, UP = range(2)
# dimensions of a session, and their names in one trial
IN_ONE_TRIAL = {
    "sample": "time", "plate_sample": "plate_time", "event": "event", "contact": "contact", "cycle": "cycle",
    "stance": "stance", "whole_stance": "whole_stance", "burst": "burst",
}  # fmt: skip
