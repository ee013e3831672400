"""Robot programs: AL, VAL, AML, AUTOPASS, RAPT and Python say the same instructions, which run on simulated arms.

`parse` reads a text, `task` makes a program in Python, `check` finds wrong types, units and names before anything
moves, `run` lets the robots of a world do it. Values are in SI units inside; a program says its units.

| where | what |
|---|---|
| `instructions` | The instruction set: frozen data that remembers where it was written |
| `languages` | AL, VAL, AML, AUTOPASS and RAPT: from text to instructions, and back |
| `meaning` | Values, functions and constants, the evaluation of expressions, and checks |
| `building` | Robot programs made in Python, which read like the languages and give the same instructions |
| `running` | Sessions, runs, traces and back ends: kinematic, dynamic, hardware |
| `tasks` | From statements about parts to motions, by relations, grasps and motion plans of the world |
| `execution` | `run`, `Session` and `replay`: programs in a world, at once, step by step, and again |
| `rehearsal` | Dry runs: limits, reach, branches and collisions along a whole program, at its lines |
| `teaching` | Points that someone led an arm through, and frames that someone pointed at, as programs |
| `editing` | Programs in an editor: findings, meanings of words, completions, and a server that tells them |
| `book_cell` | The cell of the book's insertion program: a PUMA 560, a feeder with a bolt, and a beam with a bore |
"""

from typing import TYPE_CHECKING

from ..lazy import later, suggesting

if TYPE_CHECKING:
    from .book_cell import insertion_world as insertion_world
    from .building import ArmBuilder as ArmBuilder
    from .building import EventBuilder as EventBuilder
    from .building import Formula as Formula
    from .building import HandBuilder as HandBuilder
    from .building import MoveBuilder as MoveBuilder
    from .building import N as N
    from .building import ParallelBuilder as ParallelBuilder
    from .building import SelectBuilder as SelectBuilder
    from .building import TaskBuilder as TaskBuilder
    from .building import X as X
    from .building import Y as Y
    from .building import Z as Z
    from .building import cm as cm
    from .building import deg as deg
    from .building import degrees as degrees
    from .building import formula as formula
    from .building import frame_at as frame_at
    from .building import function_of as function_of
    from .building import inch as inch
    from .building import inches as inches
    from .building import lbf as lbf
    from .building import meters as meters
    from .building import mm as mm
    from .building import ms as ms
    from .building import newtons as newtons
    from .building import nilrot as nilrot
    from .building import nilvect as nilvect
    from .building import ounces as ounces
    from .building import ozf as ozf
    from .building import rad as rad
    from .building import rot as rot
    from .building import rpm as rpm
    from .building import seconds as seconds
    from .building import station as station
    from .building import task as task
    from .building import trans as trans
    from .building import unit as unit
    from .building import xyz as xyz
    from .editing import Completion as Completion
    from .editing import completions as completions
    from .editing import findings as findings
    from .editing import hover as hover
    from .editing import language_server as language_server
    from .execution import Replay as Replay
    from .execution import Session as Session
    from .execution import replay as replay
    from .execution import run as run
    from .instructions import ACCELERATION as ACCELERATION
    from .instructions import AGGREGATE as AGGREGATE
    from .instructions import ANGLE as ANGLE
    from .instructions import ANY as ANY
    from .instructions import BOOLEAN as BOOLEAN
    from .instructions import EVENT as EVENT
    from .instructions import FORCE as FORCE
    from .instructions import FRAME as FRAME
    from .instructions import JOINTS as JOINTS
    from .instructions import LENGTH as LENGTH
    from .instructions import NOWHERE as NOWHERE
    from .instructions import NUMBER as NUMBER
    from .instructions import ROTATION as ROTATION
    from .instructions import SPEED as SPEED
    from .instructions import TEXT as TEXT
    from .instructions import TIME as TIME
    from .instructions import TORQUE as TORQUE
    from .instructions import TURNING as TURNING
    from .instructions import VECTOR as VECTOR
    from .instructions import Abort as Abort
    from .instructions import Aggregate as Aggregate
    from .instructions import Assign as Assign
    from .instructions import Attach as Attach
    from .instructions import Binary as Binary
    from .instructions import Block as Block
    from .instructions import Call as Call
    from .instructions import CallProcedure as CallProcedure
    from .instructions import Case as Case
    from .instructions import Comment as Comment
    from .instructions import Declare as Declare
    from .instructions import DefineMonitor as DefineMonitor
    from .instructions import Delay as Delay
    from .instructions import Detach as Detach
    from .instructions import Diagnostic as Diagnostic
    from .instructions import Expression as Expression
    from .instructions import For as For
    from .instructions import ForceClause as ForceClause
    from .instructions import Gosub as Gosub
    from .instructions import Goto as Goto
    from .instructions import Guard as Guard
    from .instructions import Here as Here
    from .instructions import If as If
    from .instructions import Index as Index
    from .instructions import Label as Label
    from .instructions import Literal as Literal
    from .instructions import Locate as Locate
    from .instructions import Move as Move
    from .instructions import MoveHand as MoveHand
    from .instructions import MoveJoints as MoveJoints
    from .instructions import Name as Name
    from .instructions import Operate as Operate
    from .instructions import Parallel as Parallel
    from .instructions import Parameter as Parameter
    from .instructions import Pause as Pause
    from .instructions import Place as Place
    from .instructions import Position as Position
    from .instructions import Print as Print
    from .instructions import Procedure as Procedure
    from .instructions import Program as Program
    from .instructions import ProgramError as ProgramError
    from .instructions import Quantity as Quantity
    from .instructions import Reading as Reading
    from .instructions import RelationClause as RelationClause
    from .instructions import Repeat as Repeat
    from .instructions import Return as Return
    from .instructions import SetBase as SetBase
    from .instructions import SetConfiguration as SetConfiguration
    from .instructions import SetSpeed as SetSpeed
    from .instructions import SetTool as SetTool
    from .instructions import Signal as Signal
    from .instructions import SignalEvent as SignalEvent
    from .instructions import Source as Source
    from .instructions import Span as Span
    from .instructions import Statement as Statement
    from .instructions import Stop as Stop
    from .instructions import TaskState as TaskState
    from .instructions import Type as Type
    from .instructions import Unary as Unary
    from .instructions import UnitName as UnitName
    from .instructions import Unwatch as Unwatch
    from .instructions import Wait as Wait
    from .instructions import WaitEvent as WaitEvent
    from .instructions import Watch as Watch
    from .instructions import While as While
    from .instructions import Wrt as Wrt
    from .instructions import expressions_in as expressions_in
    from .instructions import rendered as rendered
    from .instructions import scalar as scalar
    from .instructions import statement_types as statement_types
    from .instructions import statements_in as statements_in
    from .instructions import vector as vector
    from .languages import AL_WORDS as AL_WORDS
    from .languages import AML_WORDS as AML_WORDS
    from .languages import AUTOPASS_WORDS as AUTOPASS_WORDS
    from .languages import FRONT_ENDS as FRONT_ENDS
    from .languages import LANGUAGE_TABLE as LANGUAGE_TABLE
    from .languages import RAPT_WORDS as RAPT_WORDS
    from .languages import VAL_WORDS as VAL_WORDS
    from .languages import FrontEnd as FrontEnd
    from .languages import RobotLanguage as RobotLanguage
    from .languages import al_text as al_text
    from .languages import aml_text as aml_text
    from .languages import autopass_text as autopass_text
    from .languages import language_of as language_of
    from .languages import parse as parse
    from .languages import parse_al as parse_al
    from .languages import parse_aml as parse_aml
    from .languages import parse_autopass as parse_autopass
    from .languages import parse_rapt as parse_rapt
    from .languages import parse_val as parse_val
    from .languages import rapt_text as rapt_text
    from .languages import to_text as to_text
    from .languages import val_text as val_text
    from .meaning import CONSTANTS as CONSTANTS
    from .meaning import FUNCTIONS as FUNCTIONS
    from .meaning import FunctionParameter as FunctionParameter
    from .meaning import ProgramFunction as ProgramFunction
    from .meaning import Scope as Scope
    from .meaning import Value as Value
    from .meaning import VariableScope as VariableScope
    from .meaning import check as check
    from .meaning import evaluate as evaluate
    from .meaning import type_in_words as type_in_words
    from .meaning import value_in_words as value_in_words
    from .rehearsal import DryMotion as DryMotion
    from .rehearsal import DryRun as DryRun
    from .rehearsal import dry_run as dry_run
    from .running import APPROACH_LENGTH as APPROACH_LENGTH
    from .running import Ahead as Ahead
    from .running import ArmMotion as ArmMotion
    from .running import ArmSettings as ArmSettings
    from .running import Backend as Backend
    from .running import CameraShot as CameraShot
    from .running import Checkpoint as Checkpoint
    from .running import Compliance as Compliance
    from .running import ContactNumbers as ContactNumbers
    from .running import Driver as Driver
    from .running import DriverBackend as DriverBackend
    from .running import DriverError as DriverError
    from .running import DriverReading as DriverReading
    from .running import DynamicBackend as DynamicBackend
    from .running import FingerStop as FingerStop
    from .running import HandMotion as HandMotion
    from .running import KinematicBackend as KinematicBackend
    from .running import MockRobot as MockRobot
    from .running import ProgramRun as ProgramRun
    from .running import ProgramTrace as ProgramTrace
    from .running import RecordedDriver as RecordedDriver
    from .running import RecordingDriver as RecordingDriver
    from .running import RunLimits as RunLimits
    from .running import SetPoint as SetPoint
    from .running import SocketDriver as SocketDriver
    from .running import TraceEvent as TraceEvent
    from .running import UnreachableError as UnreachableError
    from .running import camera_shot as camera_shot
    from .running import finger_stop as finger_stop
    from .running import hand_in_tool as hand_in_tool
    from .running import let_go as let_go
    from .running import mock_robot as mock_robot
    from .running import plan_joints as plan_joints
    from .running import plan_move as plan_move
    from .running import program_from_json as program_from_json
    from .running import program_to_json as program_to_json
    from .running import read_trace as read_trace
    from .running import taken as taken
    from .running import touch_wrench as touch_wrench
    from .running import write_trace as write_trace
    from .tasks import FACE_NUMBERS as FACE_NUMBERS
    from .tasks import SCREW_PITCH as SCREW_PITCH
    from .tasks import SCREW_SPEED as SCREW_SPEED
    from .tasks import SCREW_STIFFNESS as SCREW_STIFFNESS
    from .tasks import CarryPart as CarryPart
    from .tasks import FastenPart as FastenPart
    from .tasks import PutPart as PutPart
    from .tasks import TakePart as TakePart
    from .tasks import TaskPhase as TaskPhase
    from .tasks import state_holds as state_holds
    from .tasks import task_steps as task_steps
    from .teaching import Lesson as Lesson
    from .teaching import TaughtPoint as TaughtPoint
    from .teaching import declare_frames as declare_frames
    from .teaching import lesson_from_json as lesson_from_json
    from .teaching import lesson_trajectory as lesson_trajectory
    from .teaching import pointed_frame as pointed_frame

# Where each name is defined: a file or folder is loaded when one of its names is first used. A test keeps this
# table and the imports above, which editors and type checkers read, the same.
_HOMES = {
    "book_cell": "insertion_world",
    "building": "ArmBuilder EventBuilder Formula HandBuilder MoveBuilder N ParallelBuilder "
    "SelectBuilder TaskBuilder X Y Z cm deg degrees formula frame_at function_of inch "
    "inches lbf meters mm ms newtons nilrot nilvect ounces ozf rad rot rpm seconds "
    "station task trans unit xyz",
    "editing": "Completion completions findings hover language_server",
    "execution": "Replay Session replay run",
    "instructions": "ACCELERATION AGGREGATE ANGLE ANY Abort Aggregate Assign Attach BOOLEAN Binary Block "
    "Call CallProcedure Case Comment Declare DefineMonitor Delay Detach Diagnostic EVENT "
    "Expression FORCE FRAME For ForceClause Gosub Goto Guard Here If Index JOINTS LENGTH "
    "Label Literal Locate Move MoveHand MoveJoints NOWHERE NUMBER Name Operate Parallel "
    "Parameter Pause Place Position Print Procedure Program ProgramError Quantity "
    "ROTATION Reading RelationClause Repeat Return SPEED SetBase SetConfiguration "
    "SetSpeed SetTool Signal SignalEvent Source Span Statement Stop TEXT TIME TORQUE "
    "TURNING TaskState Type Unary UnitName Unwatch VECTOR Wait WaitEvent Watch While Wrt "
    "expressions_in rendered scalar statement_types statements_in vector",
    "languages": "AL_WORDS AML_WORDS AUTOPASS_WORDS FRONT_ENDS FrontEnd LANGUAGE_TABLE RAPT_WORDS "
    "RobotLanguage VAL_WORDS al_text aml_text autopass_text language_of parse parse_al "
    "parse_aml parse_autopass parse_rapt parse_val rapt_text to_text val_text",
    "meaning": "CONSTANTS FUNCTIONS FunctionParameter ProgramFunction Scope Value VariableScope "
    "check evaluate type_in_words value_in_words",
    "rehearsal": "DryMotion DryRun dry_run",
    "running": "APPROACH_LENGTH Ahead ArmMotion ArmSettings Backend CameraShot Checkpoint Compliance "
    "ContactNumbers Driver DriverBackend DriverError DriverReading DynamicBackend "
    "FingerStop HandMotion KinematicBackend MockRobot ProgramRun ProgramTrace "
    "RecordedDriver RecordingDriver RunLimits SetPoint SocketDriver TraceEvent "
    "UnreachableError camera_shot finger_stop hand_in_tool let_go mock_robot plan_joints "
    "plan_move program_from_json program_to_json read_trace taken touch_wrench "
    "write_trace",
    "tasks": "CarryPart FACE_NUMBERS FastenPart PutPart SCREW_PITCH SCREW_SPEED SCREW_STIFFNESS "
    "TakePart TaskPhase state_holds task_steps",
    "teaching": "Lesson TaughtPoint declare_frames lesson_from_json lesson_trajectory pointed_frame",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]

if not TYPE_CHECKING:
    __getattr__ = later(__name__, _HOME_OF | {home: home for home in _HOMES}, suggesting(__all__))


def __dir__() -> list[str]:
    return __all__
