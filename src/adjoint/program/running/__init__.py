"""Running programs: statements become operations, moves become motions, and time passes in ticks.

| file | contents |
|---|---|
| `flat_code` | statements as a flat row of operations with jumps |
| `machine`, `machine_state` | threads that do operations until all of them wait, then time passes to the first event |
| `flow` | loops, jumps, calls and parallel branches |
| `conditions` | guards, monitors, watches and waits that hold |
| `statement_effects`, `move_effects`, `world_effects`, `task_effects` | what statements do |
| `readings` | what expressions ask while a program runs: variables, frames, arms, sensors and inputs |
| `arms` | what is set for arms, what they hold, and by which frame |
| `motions` | `plan_move`, `plan_joints`: configurations at every tick |
| `joint_paths`, `knot_configurations` | timing; branches, limits and lines of frames |
| `backends` | what a back end is: `Backend`, `Ahead`, `ArmMotion`, `HandMotion`, `Compliance` |
| `kinematic` | `KinematicBackend` |
| `dynamic`, `dynamic_steps` | `DynamicBackend`: arms with masses, under control |
| `driver`, `driver_messages` | `DriverBackend`, `Driver`: robots behind a wire, and what is sent and read |
| `driver_sockets`, `driver_mocks` | `SocketDriver`, `mock_robot`: robots over TCP, and a mock of one |
| `driver_records` | `RecordingDriver`, `RecordedDriver`: what was sent and read, and runs from it |
| `motion_contacts`, `direction_search` | what a robot and what it carries meet in a motion; gaps between hulls |
| `fingers` | fingers that close on parts |
| `looking`, `part_symmetries` | `camera_shot`: cameras that look for parts |
| `beliefs` | the world as it is, and what the program has of it |
| `touching`, `touching_points`, `touching_shapes` | forces of contact |
| `recording`, `program_runs` | `TraceEvent`, `ProgramRun`: what has happened |
| `sessions`, `checkpoints` | programs that run step by step, and go on from `Checkpoint`s |
| `traces` | what a run did as lines of JSON, and the first difference between two runs |
| `instruction_json`, `data_checks` | programs as JSON; whether data from outside have their types |
"""

from .arms import ArmSettings as ArmSettings
from .arms import hand_in_tool as hand_in_tool
from .backends import Ahead as Ahead
from .backends import ArmMotion as ArmMotion
from .backends import Backend as Backend
from .backends import Compliance as Compliance
from .backends import HandMotion as HandMotion
from .checkpoints import Checkpoint as Checkpoint
from .driver import Driver as Driver
from .driver import DriverBackend as DriverBackend
from .driver_messages import DriverError as DriverError
from .driver_messages import DriverReading as DriverReading
from .driver_messages import SetPoint as SetPoint
from .driver_mocks import MockRobot as MockRobot
from .driver_mocks import mock_robot as mock_robot
from .driver_records import RecordedDriver as RecordedDriver
from .driver_records import RecordingDriver as RecordingDriver
from .driver_sockets import SocketDriver as SocketDriver
from .dynamic import DynamicBackend as DynamicBackend
from .fingers import FingerStop as FingerStop
from .fingers import finger_stop as finger_stop
from .fingers import let_go as let_go
from .fingers import taken as taken
from .instruction_json import program_from_json as program_from_json
from .instruction_json import program_to_json as program_to_json
from .kinematic import KinematicBackend as KinematicBackend
from .knot_configurations import UnreachableError as UnreachableError
from .looking import CameraShot as CameraShot
from .looking import camera_shot as camera_shot
from .machine import RunLimits as RunLimits
from .motions import APPROACH_LENGTH as APPROACH_LENGTH
from .motions import plan_joints as plan_joints
from .motions import plan_move as plan_move
from .program_runs import ProgramRun as ProgramRun
from .recording import TraceEvent as TraceEvent
from .touching import ContactNumbers as ContactNumbers
from .touching import touch_wrench as touch_wrench
from .traces import ProgramTrace as ProgramTrace
from .traces import read_trace as read_trace
from .traces import write_trace as write_trace

__all__ = [
    "APPROACH_LENGTH",
    "Ahead",
    "ArmMotion",
    "ArmSettings",
    "Backend",
    "CameraShot",
    "Checkpoint",
    "Compliance",
    "ContactNumbers",
    "Driver",
    "DriverBackend",
    "DriverError",
    "DriverReading",
    "DynamicBackend",
    "FingerStop",
    "HandMotion",
    "KinematicBackend",
    "MockRobot",
    "ProgramRun",
    "ProgramTrace",
    "RecordedDriver",
    "RecordingDriver",
    "RunLimits",
    "SetPoint",
    "SocketDriver",
    "TraceEvent",
    "UnreachableError",
    "camera_shot",
    "finger_stop",
    "hand_in_tool",
    "let_go",
    "mock_robot",
    "plan_joints",
    "plan_move",
    "program_from_json",
    "program_to_json",
    "read_trace",
    "taken",
    "touch_wrench",
    "write_trace",
]


def __dir__() -> list[str]:
    return __all__
