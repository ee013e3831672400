"""Touch: tactile arrays with their three scans (X7), fingers with switches, a rod, and a slip sensor."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from adjoint.errors import ArgumentError, SolveError
from adjoint.sensing.noise import Noise, noisy
from adjoint.sensing.slipping import SlipBall, slip_direction, slip_signal, slip_vector
from adjoint.sensing.tactile_arrays import TactileScan, tactile_currents, tactile_resistances, tactile_sensitivity
from adjoint.sensing.touching import (
    FingerSwitches,
    TouchRod,
    centred,
    centring_contacts,
    finger_contacts,
    rod_force,
    rod_force_sigma,
    rod_rotation,
)

INF = np.inf
P69 = np.array([[100, INF, 100], [INF, 50, INF], [100, 50, 100]])  # problem 6.9
FLOATING, GROUNDED, DIODE = (TactileScan(mode) for mode in ("floating", "grounded", "diode"))


def arrays(shape, seed=0, share=0.3):
    """Random resistances, some of them open."""
    rng = np.random.default_rng(seed)
    R = 1000 * np.exp(rng.normal(size=shape))
    R[rng.random(shape) < share] = INF
    return R


# --- scans ------------------------------------------------------------------------------------------------------------


def test_problems_6_9_and_6_10():
    """X7, exactly: 66.667 = 200/3, 33.333 = 100/3 and 28.571 = 200/7 mA."""
    floating = [[200 / 3, 100 / 3, 200 / 3], [200 / 7, 100, 200 / 7], [200 / 3, 100, 200 / 3]]
    np.testing.assert_allclose(1e3 * tactile_currents(FLOATING, P69), floating, rtol=1e-13)
    grounded = [[50, 0, 50], [0, 100, 0], [50, 100, 50]]
    np.testing.assert_allclose(1e3 * tactile_currents(GROUNDED, P69), grounded, rtol=1e-14)
    diode = [[44, 0, 44], [0, 88, 0], [44, 88, 44]]
    np.testing.assert_allclose(1e3 * tactile_currents(DIODE, P69), diode, rtol=1e-14)


def nodal(R, i, j, drive=5.0):
    """The current at one crossing of a floating scan, by nodal analysis with the floating nodes as unknowns."""
    m, n = R.shape
    G = np.zeros((m + n, m + n))
    G[:m, m:], G[m:, :m] = 1 / R, 1 / R.T
    L = np.diag(G.sum(axis=1)) - G
    known = {i: drive, m + j: 0.0}
    free = [k for k in range(m + n) if k not in known]
    u = np.zeros(m + n)
    u[i] = drive
    u[free] = np.linalg.lstsq(L[np.ix_(free, free)], -L[np.ix_(free, [i])][:, 0] * drive, rcond=None)[0]
    return float(-(L @ u)[m + j])


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (2, 3), (5, 4), (8, 8)])
def test_floating_scans_are_nodal_analysis(shape):
    R = arrays((4, *shape), seed=sum(shape))
    I = tactile_currents(FLOATING, R)
    for k, i, j in itertools.product(range(4), range(shape[0]), range(shape[1])):
        assert I[k, i, j] == pytest.approx(nodal(R[k], i, j), rel=1e-10, abs=1e-12)


def piecewise(R, i, j, scan):
    """The current at one crossing with diodes: floating potentials minimise Σ max(0, u_r - u_c - V_d)² / 2R."""
    m, n = R.shape
    free = [k for k in range(m + n) if k not in (i, m + j)]

    def potentials(x):
        u = np.zeros(m + n)
        u[i], u[free] = scan.drive, x
        return u

    def cost(x):
        u = potentials(x)
        over = np.maximum(u[:m, None] - u[None, m:] - scan.diode_drop, 0.0)
        slope = over / R
        g = np.concatenate([slope.sum(axis=1), -slope.sum(axis=0)])
        return float(np.sum(over * slope) / 2), g[free]

    found = minimize(cost, np.full(len(free), 0.5 * scan.drive), jac=True, method="BFGS", options={"gtol": 1e-14})
    u = potentials(found.x)
    return float(np.sum(np.maximum(u[:m] - scan.diode_drop, 0.0) / R[:, j]))


def test_diodes_block_every_detour():
    """The whole network with diodes, solved as a convex problem, has the current of the one crossing alone."""
    R = arrays((4, 3), seed=3) / 1000
    I = tactile_currents(DIODE, R)
    for i, j in itertools.product(range(4), range(3)):
        assert piecewise(R, i, j, DIODE) == pytest.approx(I[i, j], abs=1e-6)
    assert np.all(tactile_currents(TactileScan("diode", drive=0.5), R) == 0)  # below the drop nothing flows


def test_sneak_paths_only_add_current():
    R = arrays((50, 6, 5), seed=1)
    floating, grounded = tactile_currents(FLOATING, R), tactile_currents(GROUNDED, R)
    assert np.all(floating >= grounded * (1 - 1e-12)) and np.any(floating > 2 * grounded)
    one = np.full((6, 5), INF)
    one[2, 3] = 200.0
    for scan in (FLOATING, GROUNDED):
        I = tactile_currents(scan, one)
        assert I[2, 3] == pytest.approx(5 / 200, rel=1e-13) and np.count_nonzero(I) == 1
    assert not tactile_currents(FLOATING, np.full((3, 2), INF)).any()


@pytest.mark.parametrize("scan", [FLOATING, GROUNDED, DIODE], ids=lambda s: s.scanning)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 5), (8, 6)])
def test_resistances_come_back(scan, shape):
    R = arrays((6, *shape), seed=shape[0])
    found = tactile_resistances(scan, tactile_currents(scan, R))
    np.testing.assert_allclose(found, R, rtol=1e-8)  # infinity where it was
    np.testing.assert_allclose(tactile_resistances(scan, tactile_currents(scan, P69)), P69, rtol=1e-10)


def test_parts_of_a_floating_array_that_are_not_connected():
    R = np.full((5, 5), INF)
    R[:2, 1:3] = [[100, 200], [300, 400]]
    R[3, 4] = 50.0
    I = tactile_currents(FLOATING, R)
    assert I[0, 4] == 0 and I[3, 4] == pytest.approx(0.1)
    np.testing.assert_allclose(tactile_resistances(FLOATING, I), R, rtol=1e-10)


def test_sensitivity_is_the_slope_of_currents():
    R = arrays((3, 4), seed=5, share=0.1)
    slopes, G = tactile_sensitivity(R), 1 / R
    h = 1e-7 * G.max()
    for k, l in itertools.product(range(3), range(4)):
        step = np.zeros((3, 4))
        step[k, l] = h
        with np.errstate(divide="ignore"):  # open crossings
            up, down = (tactile_currents(FLOATING, 1 / (G + s)) for s in (2 * step, step))
        np.testing.assert_allclose(slopes[:, :, k, l], (up - down) / h, rtol=0, atol=2e-5 * slopes.max())
    assert np.array_equal(slopes[0, 0] >= 0, np.ones((3, 4), bool))
    np.testing.assert_allclose(np.einsum("ijij->ij", slopes), 5.0, rtol=1e-12)  # its own crossing: V


def test_floating_readings_with_noise():
    """Errors of conductances are those of the linear model, G = S⁻¹ I: 300 scans of noise of 1e-6 A."""
    R = 1000 * np.exp(0.3 * np.random.default_rng(0).normal(size=(3, 3)))
    I, noise = tactile_currents(FLOATING, R), Noise(sigma=1e-6)
    G = 1 / tactile_resistances(FLOATING, noisy(np.tile(I, (300, 1, 1)), noise, rng=1))
    inverse = np.linalg.inv(tactile_sensitivity(R).reshape(9, 9))
    want = 1e-6 * np.linalg.norm(inverse, axis=1)
    np.testing.assert_allclose((G - 1 / R).std(axis=0).ravel(), want, rtol=0.25)
    leak = I.copy()
    leak[0, 0] = 1e-9
    with pytest.raises(SolveError, match="row 0, column 0, though other crossings connect them"):
        tactile_resistances(FLOATING, leak, least_current=1e-8)


def test_bad_arrays():
    for R in (np.zeros((2, 2)), [[-1.0, 2.0]], np.zeros((0, 3)), [[np.nan]]):
        with pytest.raises(ArgumentError, match="must be above 0"):
            tactile_currents(FLOATING, R)
    with pytest.raises(ArgumentError, match=r"\(\.\.\., n, n\) is needed"):
        tactile_currents(FLOATING, [1.0, 2.0])
    with pytest.raises(ArgumentError, match="'floating', 'grounded', 'diode'"):
        TactileScan("earthed")
    with pytest.raises(ArgumentError, match="'scan' must be a TactileScan, got str"):
        tactile_currents("floating", P69)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="finite"):
        tactile_resistances(FLOATING, [[np.nan]])
    with pytest.raises(ArgumentError, match="below the diodes' drop"):
        tactile_resistances(TactileScan("diode", drive=0.3), [[1.0]])
    with pytest.raises(SolveError):  # a floating scan never has an empty crossing between connected lines
        tactile_resistances(FLOATING, [[1.0, 1.0], [0.0, 1.0]])


# --- fingers and rods -------------------------------------------------------------------------------------------------


def test_a_hand_centres_itself():
    """The hand is stepped as it would be, reading its switches after each step, and finds what the closed form says."""
    hand, rng = FingerSwitches(opening=0.1, step=1e-3), np.random.default_rng(0)
    for _ in range(40):
        size, center = rng.uniform(0.01, 0.08), rng.uniform(-0.2, 0.2)
        start = center + rng.uniform(-0.9, 0.9) * (0.1 - size) / 2
        x = start
        assert not any(finger_contacts(hand, x, center, size))
        while not finger_contacts(hand, x, center, size).left:
            x += hand.step
        left = x
        while not finger_contacts(hand, x, center, size).right:
            x -= hand.step
        stops = centring_contacts(hand, start, center, size)
        np.testing.assert_allclose(stops, (left, x), atol=1e-12)
        found = centred(hand, *stops)
        assert abs(found.position - center) <= found.position_bound + 1e-12
        assert abs(found.size - size) <= found.size_bound + 1e-12


def test_objects_that_do_not_fit():
    hand = FingerSwitches(opening=0.1, step=1e-3)
    assert np.isnan(centring_contacts(hand, 0.0, 0.0, 0.11).left)
    assert np.isnan(centring_contacts(hand, 0.5, 0.0, 0.05).right)  # not between the fingers
    with pytest.raises(ArgumentError, match="opening must be finite, positive"):
        FingerSwitches(0.0, 1e-3)


def test_a_rod_is_a_spring():
    rod = TouchRod(stiffness=500.0, lever=5e-3, noise=Noise(step=2 * np.pi / 1000))
    F = np.linspace(-2, 2, 1001)
    angle = rod_rotation(rod, F)
    np.testing.assert_allclose(angle * rod.lever * rod.stiffness, F, rtol=1e-14)  # F = k x
    np.testing.assert_allclose(rod_force(rod, angle), F, rtol=1e-14)
    read = rod_force(rod, noisy(angle, rod.noise))
    assert np.abs(read - F).max() <= 0.5 * (2 * np.pi / 1000) * 2.5 + 1e-12
    assert abs((read - F).std() / rod_force_sigma(rod) - 1) < 0.02


# --- slip -------------------------------------------------------------------------------------------------------------


def test_slip_comes_back_to_the_nearest_contact():
    ball, rng = SlipBall(spacing=1e-3, contacts=12), np.random.default_rng(0)
    v = rng.normal(size=(500, 2)) * 0.05
    signal = slip_signal(ball, v)
    np.testing.assert_allclose(signal.frequency * ball.spacing, np.linalg.norm(v, axis=1), rtol=1e-14)
    assert signal.contact.min() >= 0 and signal.contact.max() <= 11 and np.all(signal.contact % 1 == 0)
    back = slip_vector(ball, *signal)
    np.testing.assert_allclose(np.linalg.norm(back, axis=1), np.linalg.norm(v, axis=1), rtol=1e-13)
    turned = np.arctan2(v[:, 0] * back[:, 1] - v[:, 1] * back[:, 0], np.sum(v * back, axis=1))
    assert np.abs(turned).max() <= np.pi / 12 + 1e-12 and np.abs(turned).max() > 0.9 * np.pi / 12
    again = slip_signal(ball, back)
    assert np.array_equal(again.contact, signal.contact)
    assert slip_signal(ball, [0.0, 0.0]).frequency == 0


def test_counts_of_several_contacts_are_finer_than_one():
    ball, rng = SlipBall(spacing=1e-3, contacts=8), np.random.default_rng(1)
    angle = 0.3
    touched = slip_signal(ball, np.stack([np.cos(a := angle + 0.4 * rng.normal(size=5000)), np.sin(a)], axis=1)).contact
    counts = np.bincount(touched.astype(int), minlength=8)
    assert abs(slip_direction(ball, counts) - angle) < 0.03 < np.pi / 8
    assert np.isnan(slip_direction(ball, np.zeros(8))) and np.isnan(slip_direction(ball, np.ones(8)))
    assert slip_direction(ball, np.eye(8)[3]) == pytest.approx(3 * np.pi / 4)
    with pytest.raises(ArgumentError, match=r"\(\.\.\., 8\) is needed"):
        slip_direction(ball, np.ones(7))
    with pytest.raises(ArgumentError, match="contacts must be 3 or more"):
        SlipBall(1e-3, 2)
