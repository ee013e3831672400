"""Visual servoing: arms that move by what their cameras see.

| file | contents |
|---|---|
| `interaction` | how image points and pixels move with the camera: the interaction matrix, as kernels |
| `servo_twists` | the twists of image-based, partitioned and position-based servoing |
| `servo_laws` | both as control laws for `simulate` |
| `servo_sensors` | sensors that feed them: pixels of points, and poses of a target |
| `camera_scene` | what laws and sensors share: the camera's place and lens, and checks |
"""

from .interaction import interaction_matrix as interaction_matrix
from .interaction import pixel_interaction as pixel_interaction
from .servo_laws import ServoState as ServoState
from .servo_laws import image_servo as image_servo
from .servo_laws import pose_servo as pose_servo
from .servo_sensors import pixel_sensor as pixel_sensor
from .servo_sensors import target_pose_sensor as target_pose_sensor
from .servo_twists import image_based_twist as image_based_twist
from .servo_twists import pose_based_twist as pose_based_twist

__all__ = [
    "ServoState",
    "image_based_twist",
    "image_servo",
    "interaction_matrix",
    "pixel_interaction",
    "pixel_sensor",
    "pose_based_twist",
    "pose_servo",
    "target_pose_sensor",
]


def __dir__() -> list[str]:
    return __all__
