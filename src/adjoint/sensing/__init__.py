"""Sensors that range, feel and weigh: their models with noise, the inverses, and the same sensors in a scene."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
