"""Draws the pictures of docs/planning_motion.md: python docs/pictures/planning_motion.py"""

import matplotlib
from matplotlib import pyplot as plt
from saving import save

import adjoint as aj
from adjoint.planning.refining import execute_task, plan_task
from adjoint.sensing import DirectionalLight, Plane, intensity_image
from adjoint.vision import Camera, looking_at
from adjoint.world import Gripper, World, cuboid

matplotlib.use("Agg")
LIGHTS = [
    DirectionalLight([-0.3, 0.5, -1.0], intensity=0.6),
    DirectionalLight([-0.7, 0.5, -0.3], intensity=0.45, shadows=False),
]
COLOURS = {
    "a": (0.85, 0.2, 0.15), "b": (0.2, 0.65, 0.25), "c": (0.2, 0.35, 0.85), "d": (0.9, 0.75, 0.15),
    "e": (0.55, 0.55, 0.6), "f": (0.55, 0.55, 0.6), "s": (0.6, 0.2, 0.7),
}  # fmt: skip


def cell(**places: tuple[float, float, int]) -> World:
    """A PUMA before a table with cubes at {name: (x, y, level)}."""
    world = World().add("table", cuboid(0.5, 0.7, 0.05, colour=(0.75, 0.65, 0.5)), at=[0.6, 0, -0.325])
    for name, (x, y, level) in places.items():
        world = world.add(name, cuboid(0.05, 0.05, 0.05, colour=COLOURS[name]), at=[x, y, -0.275 + 0.05 * level])
    hand = Gripper(opening=0.08, depth=0.045, T_tool_grip=[0, 0, 0.14])
    return world.add_robot("arm", aj.robots.puma560(), q=[0, -1.2, 0.3, 0, 0.5, 0], gripper=hand)


def row(worlds: list[World], titles: list[str], name: str) -> None:
    T = looking_at([1.5, -0.55, 0.42], target=[0.5, 0.05, -0.15])
    camera = Camera.pinhole((380, 340), field_of_view=0.56, T_world_camera=T)
    figure, axes = plt.subplots(1, len(worlds), figsize=(2.75 * len(worlds), 2.75), layout="constrained")
    for axis, world, title in zip(axes, worlds, titles, strict=True):
        seen = world.add("floor", Plane(colour=0.9), at=[0, 0, -0.66])
        axis.imshow(intensity_image(seen.scene(), camera, LIGHTS, ambient=0.3, samples=4, colour=True, background=1.0))
        axis.set_title(title, fontsize=9)
        axis.set_axis_off()
    save(figure, name, colours=96)


def fault() -> None:
    world = cell(a=(0.5, -0.1, 0), c=(0.5, -0.1, 1), b=(0.5, 0.15, 0))
    spoilt = []

    def take_off(step: int, scene: World) -> World:
        if step != 4:
            return scene
        spoilt.append(scene.detach("b").move("b", [0.45, 0.05, -0.275]).attach("b", "table", "conditional"))
        return spoilt[0]

    plan = plan_task(world, "(and (on b c) (on a b))")
    done = execute_task(world, plan, disturb=take_off)
    after = [run.world for run in done.runs]
    row(
        [world, after[3], spoilt[0], after[4], after[7]],
        ["at first", "after (stack arm b c)", "B is taken off", "kernel 3: (pick arm b table)", "the goal"],
        "planning_motion_fault",
    )


def obstructed() -> None:
    near = 0.056
    world = cell(
        a=(0.5, -0.1, 0), b=(0.5, -0.1 + near, 0), d=(0.5, -0.1 - near, 0), e=(0.5 + near, -0.1, 0),
        f=(0.5 - near, -0.1, 0), s=(0.5, 0.25, 0),
    )  # fmt: skip
    plan = plan_task(world, "(on a s)")
    print(plan.explanation)
    worlds = [world, *(refinement.after for refinement in plan.refinements)]
    row(
        [world, worlds[-5], worlds[-3], worlds[-2], worlds[-1]],
        ["no hand comes to A", *(f"after {plan.actions[k]}" for k in (1, 3, 4, 5))],
        "planning_motion_obstructs",
    )


if __name__ == "__main__":
    fault()
    obstructed()
