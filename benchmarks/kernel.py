"""Joint loads of foot and shank by the kernel, compared with other methods.

All are measured in one process and in turns, so that other load affects all alike: the ratios are stable; the
microseconds are this machine's best.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.figures import Figure, not_measured
from benchmarks.timing import best_in_turn_s
from pipeline.arrays import Array
from pipeline.dynamics import block_matrix, kernel
from pipeline.dynamics.kernel import Segments
from pipeline.dynamics.vectors import transpose

TITLE = "The kernel"
FRAMES = (100_000, 20_000, 1_000)  # for fast, slower and slow methods, so that a run takes 0.02 s to 0.2 s
ROUNDS = 36

PLAIN, TERMS = "kernel", "kernel, four terms"
COPY, COPY_TERMS = "plain copy of inputs and outputs", "plain copy of inputs and outputs, four terms"
INVERSE, SOLVE, RNEA = "12 x 12 inverse in every frame", "batched numpy.linalg.solve", "pinocchio's rnea in a loop"
PARALLEL = "pinocchio's parallel batch, all cores, nothing on the foot"  # it takes no external forces
MOST_MICROSECONDS = {PLAIN: 0.3}
LEAST_TIMES_KERNEL = {INVERSE: 250.0, RNEA: 4.0}


def measure(rounds: int = ROUNDS, frames: tuple[int, int, int] = FRAMES) -> list[Figure]:
    """Return the time per frame of each method, us, and its ratio to the kernel."""
    fast, slower, slow = frames
    many, some, few = (random_motion(number) for number in frames)
    loads, terms = kernel.inverse_dynamics(many), kernel.inverse_dynamics_by_term(many)
    actions: dict[str, Callable[[], object]] = {
        PLAIN: lambda: kernel.inverse_dynamics(many),
        COPY: lambda: [array.copy() for array in (*many, *loads)],
        TERMS: lambda: kernel.inverse_dynamics_by_term(many),
        COPY_TERMS: lambda: [array.copy() for array in (*many, *terms)],
        SOLVE: lambda: by_solve(some),
        INVERSE: lambda: by_inverse(few),
    }
    number_of_frames = dict.fromkeys((PLAIN, COPY, TERMS, COPY_TERMS), fast) | {INVERSE: slow}  # slower for others
    try:
        actions |= {RNEA: by_rnea(slower), PARALLEL: by_rnea_in_parallel(slower)}
        missing = []
    except ImportError:
        missing = [not_measured("pinocchio is not installed (pip install pin)")]
    least_s = best_in_turn_s(actions, rounds=rounds)
    cost = {name: 1e6 * seconds / number_of_frames.get(name, slower) for name, seconds in least_s.items()}
    others = [name for name in (INVERSE, SOLVE, RNEA, PARALLEL) if name in cost]
    return [
        *(
            Figure(f"foot and shank, {name}, microseconds a frame", value, at_most=MOST_MICROSECONDS.get(name))
            for name, value in cost.items()
        ),
        *(
            Figure(f"{each} over the {PLAIN}", cost[each] / cost[PLAIN], at_least=LEAST_TIMES_KERNEL.get(each))
            for each in others
        ),
        *(Figure(f"{each} over the {TERMS}", cost[each] / cost[TERMS]) for each in others),
        *(Figure(f"{own} over a {copy}", cost[own] / cost[copy]) for own, copy in ((PLAIN, COPY), (TERMS, COPY_TERMS))),
        *missing,
    ]


def random_motion(frames: int) -> Segments:
    """Return random segments in motion, with inertia tensors off their principal axes."""
    random = np.random.default_rng(0)
    rotation = np.linalg.qr(random.normal(size=(frames, 2, 3, 3)))[0]
    tensor = rotation[0] @ np.diag([0.01, 0.02, 0.03]) @ transpose(rotation[0])
    vectors = (random.normal(size=(frames, 2, 3)) for _ in range(7))
    return Segments(*(rotation, np.array([1.0, 3.0]), tensor, *vectors, np.array([0.0, -9.81, 0.0])))


def by_solve(motion: Segments) -> Array:
    """Return the loads (frames, 12), all systems built and solved at once."""
    return np.concatenate(block_matrix.solve_as_one_system(motion), axis=-1).reshape(-1, 12)


def by_inverse(motion: Segments) -> Array:
    """Return the loads (frames, 12), with one matrix built and inverted in each frame."""
    rotation, mass, inertia, acceleration, velocity, turning, to_proximal, to_distal, force, moment, gravity = motion
    loads = []
    for i, (foot, shank) in enumerate(rotation):
        matrix, b = np.eye(12), np.empty(12)
        matrix[3:6, 0:3] = foot @ skew(to_proximal[i, 0])
        matrix[6:9, 0:3] = -np.eye(3)
        matrix[9:12, 0:3] = -shank @ skew(to_distal[i, 1])
        matrix[9:12, 3:6] = -shank @ foot.T
        matrix[9:12, 6:9] = shank @ skew(to_proximal[i, 1])
        for k, turn in enumerate((foot, shank)):
            momentum = inertia[k] @ velocity[i, k]
            b[6 * k : 6 * k + 3] = mass[k] * (acceleration[i, k] - gravity) - force[i, k]
            b[6 * k + 3 : 6 * k + 6] = (
                inertia[k] @ turning[i, k] + skew(velocity[i, k]) @ momentum - turn @ moment[i, k]
            )
        loads.append(np.linalg.inv(matrix) @ b)
    return np.array(loads)


def skew(v: Array) -> Array:
    """Return S(v) of one vector (3,)."""
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def by_rnea(frames: int) -> Callable[[], object]:
    """Return a loop over pinocchio's recursive Newton-Euler, with a foot wrench.

    Six degrees of freedom at each joint give all six joint loads, as here. States are random; pinocchio's inputs are
    prepared outside the measured time.
    """
    import pinocchio as pin

    model = two_free_bodies()
    data = model.createData()
    random = np.random.default_rng(0)
    states = []
    for q, v, a in zip(*(each.T for each in random_states(model, frames)), strict=True):
        wrenches = pin.StdVec_Force()
        wrenches.extend([pin.Force.Zero(), pin.Force.Zero(), pin.Force(random.normal(size=6))])
        states.append((q, v, a, wrenches))
    return lambda: [pin.rnea(model, data, *state) for state in states]


def by_rnea_in_parallel(frames: int) -> Callable[[], object]:
    """Return the same in one call on all cores; it accepts no wrench on the foot."""
    import pinocchio as pin

    model, threads = two_free_bodies(), os.cpu_count() or 1
    pool = pin.ModelPool(model, threads)
    states = random_states(model, frames)
    return lambda: pin.rneaInParallel(threads, pool, *states)


def two_free_bodies() -> Any:
    """Return pinocchio's model of shank and foot."""
    import pinocchio as pin

    model = pin.Model()
    for joint, mass in (("knee", 3.0), ("ankle", 1.0)):
        body = model.addJoint(model.njoints - 1, pin.JointModelFreeFlyer(), pin.SE3.Identity(), joint)
        inertia = pin.Inertia(mass, np.array([0.0, -0.2, 0.0]), np.diag([0.01, 0.02, 0.03]))
        model.appendBodyToJoint(body, inertia, pin.SE3.Identity())
    return model


def random_states(model: Any, frames: int) -> tuple[Array, Array, Array]:
    """Return random q, v and a, one column per frame."""
    import pinocchio as pin

    random = np.random.default_rng(0)
    q = np.array([pin.normalize(model, each) for each in random.normal(size=(frames, model.nq))]).T
    v, a = (np.asfortranarray(random.normal(size=(model.nv, frames))) for _ in range(2))
    return np.asfortranarray(q), v, a
