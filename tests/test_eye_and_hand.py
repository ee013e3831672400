"""A camera on a simulated arm is calibrated from photos of a target; then blocks are picked where they are."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import adjoint as aj
from adjoint.lie import se3

PATH = Path(__file__).parents[1] / "examples/29_eye_and_hand.py"


@pytest.fixture(scope="module")
def story():
    """The example, as a module."""
    spec = importlib.util.spec_from_file_location("eye_and_hand", PATH)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_pick_positions_agree_to_a_tenth_of_a_millimetre(story, seed):
    """Lens, hand-eye pose and blocks are all found from rendered photos with noise."""
    rng = np.random.default_rng(seed)
    camera, _ = story.calibrated(rng)
    off = se3.log(se3.inverse(camera.T_gripper_camera) @ story.MOUNTED)
    assert np.linalg.norm(off[:3]) < 3e-3 and np.linalg.norm(off[3:]) < 5e-4
    high = aj.vision.looking_at([0.42, 0.1, story.TABLE + 0.42], [0.48, -0.01, story.TABLE], up=[1, 0, 0.3])
    q = story.reach(high @ se3.inverse(story.MOUNTED))
    truth = {
        "brick": story.flat(*rng.uniform([0.44, 0.03], [0.48, 0.07]), rng.uniform(0, 3), 0.01),
        "cube": story.flat(*rng.uniform([0.53, -0.07], [0.57, -0.03]), rng.uniform(0, 3), 0.02),
        "stick": story.flat(*rng.uniform([0.4, -0.09], [0.44, -0.07]), rng.uniform(0, 3), 0.01),
    }
    things, _, _ = story.found_blocks(camera, truth, q, rng)
    assert sorted(thing.name for thing in things) == sorted(truth)
    for thing in things:
        assert np.linalg.norm((thing.T_world_object - truth[thing.name])[:3, 3]) < 1e-4
