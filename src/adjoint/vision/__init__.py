"""Vision: cameras that know the robot, and the way from images to symbols."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
