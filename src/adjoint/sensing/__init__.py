"""Sensors that range, feel and weigh: their models with noise, the inverses, and the same sensors in a scene.

| file | contents |
|---|---|
| `averaging` | Averages of repeated readings: what they gain, what they cannot, and how many are needed |
| `capacitive_proximity` | Capacitive proximity: capacitance beside any material, an oscillator, a phase shift |
| `gating` | Ultrasonic proximity with gating logic: the waveforms A to F of the textbook, as a state machine |
| `joint_current` | Torque of a joint from the current of its motor: force sensing without a force sensor |
| `light_sheet` | Range by a sheet of light: the textbook's table of columns, and any ray against any plane of light |
| `magnetic_proximity` | Magnetic proximity: a coil beside a magnet, which feels changes, and a Hall element |
| `noise` | What disturbs a reading: a constant error, white noise, a wrap, a saturation, and steps |
| `optical_proximity` | An optical proximity sensor: what lies in the intersection of two cones of light is seen |
| `payloads` | The mass, centre and inertia of a payload, from what a wrist sensor reads while it is moved |
| `phase_ranging` | Range by phase shift of modulated light, its ambiguity, and two frequencies that resolve it |
| `scene` | Sensors in a scene: rays, beams and pads against solids; depth, range and intensity images |
| `slipping` | A slip sensor: a dimpled ball shakes a disk over a ring of contacts |
| `tactile_arrays` | Tactile arrays: electrodes with a pressed resistor at each crossing, and three ways to scan |
| `time_of_flight` | Range by the time that a pulse of light or sound takes to an object and back |
| `tool_loads` | What a wrist or pedestal sensor carries: weight and inertia beyond it, and outside wrenches |
| `touching` | Touch: switches on two fingers, with which a hand centres itself, and a spring-loaded rod |
| `triangulation` | Range by triangulation: a beam from one end of a baseline, a detector at the other end |
| `ultrasonics` | Ultrasonic range: the nearest surface in a cone, between ring-down and repetition |
| `wrist_calibration` | Calibration of a wrist sensor from known loads, with errors, and which loads are missing |
| `wrist_gauges` | Wrist force sensors: from strain gauges to a wrench and back; geometry, tare, change of tools |
| `wrist_runs` | What a wrist sensor reads at every kept instant of a simulated run |
"""

from typing import TYPE_CHECKING

from ..lazy import later, suggesting

if TYPE_CHECKING:
    from .averaging import Averaged as Averaged
    from .averaging import averaged as averaged
    from .averaging import mean_confidence as mean_confidence
    from .averaging import readings_needed as readings_needed
    from .capacitive_proximity import CapacitiveProximity as CapacitiveProximity
    from .capacitive_proximity import capacitance_change as capacitance_change
    from .capacitive_proximity import capacitive_detected as capacitive_detected
    from .capacitive_proximity import capacitive_distance as capacitive_distance
    from .capacitive_proximity import capacitive_phase as capacitive_phase
    from .capacitive_proximity import capacitive_phase_change as capacitive_phase_change
    from .capacitive_proximity import oscillation as oscillation
    from .gating import GatedSonar as GatedSonar
    from .gating import GateOutputs as GateOutputs
    from .gating import GatingWaveforms as GatingWaveforms
    from .gating import gate_outputs as gate_outputs
    from .gating import gated_sonar as gated_sonar
    from .gating import gating_waveforms as gating_waveforms
    from .joint_current import current_torque as current_torque
    from .joint_current import current_torque_sigma as current_torque_sigma
    from .joint_current import torque_current as torque_current
    from .light_sheet import LightPlane as LightPlane
    from .light_sheet import LightPlanePoint as LightPlanePoint
    from .light_sheet import SheetOfLight as SheetOfLight
    from .light_sheet import fit_light_plane as fit_light_plane
    from .light_sheet import light_plane_point as light_plane_point
    from .light_sheet import light_plane_point_covariance as light_plane_point_covariance
    from .light_sheet import stripe_column as stripe_column
    from .light_sheet import stripe_distance as stripe_distance
    from .light_sheet import stripe_distance_sigma as stripe_distance_sigma
    from .light_sheet import stripe_table as stripe_table
    from .magnetic_proximity import HallProximity as HallProximity
    from .magnetic_proximity import InductiveOutput as InductiveOutput
    from .magnetic_proximity import InductiveProximity as InductiveProximity
    from .magnetic_proximity import hall_detected as hall_detected
    from .magnetic_proximity import hall_field as hall_field
    from .magnetic_proximity import hall_field_near as hall_field_near
    from .magnetic_proximity import hall_voltage as hall_voltage
    from .magnetic_proximity import inductive_output as inductive_output
    from .magnetic_proximity import inductive_switching_distance as inductive_switching_distance
    from .magnetic_proximity import inductive_voltage as inductive_voltage
    from .noise import QUIET as QUIET
    from .noise import Noise as Noise
    from .noise import noise_sigma as noise_sigma
    from .noise import noisy as noisy
    from .noise import quantised as quantised
    from .optical_proximity import OpticalProximity as OpticalProximity
    from .optical_proximity import in_sensitive_volume as in_sensitive_volume
    from .optical_proximity import optical_detected as optical_detected
    from .optical_proximity import optical_intensity as optical_intensity
    from .optical_proximity import sensitive_interval as sensitive_interval
    from .payloads import Payload as Payload
    from .payloads import identify_payload as identify_payload
    from .payloads import payload_regressor as payload_regressor
    from .phase_ranging import Demodulated as Demodulated
    from .phase_ranging import PhaseRange as PhaseRange
    from .phase_ranging import TwoPhaseRange as TwoPhaseRange
    from .phase_ranging import Unwrapped as Unwrapped
    from .phase_ranging import modulation_frequency as modulation_frequency
    from .phase_ranging import phase_demodulated as phase_demodulated
    from .phase_ranging import phase_distance as phase_distance
    from .phase_ranging import phase_distance_sigma as phase_distance_sigma
    from .phase_ranging import phase_samples as phase_samples
    from .phase_ranging import phase_shift as phase_shift
    from .phase_ranging import phase_shifts as phase_shifts
    from .phase_ranging import unwrapped_distance as unwrapped_distance
    from .phase_ranging import unwrapping_confidence as unwrapping_confidence
    from .scene import BackLight as BackLight
    from .scene import BeamEcho as BeamEcho
    from .scene import Box as Box
    from .scene import Capsule as Capsule
    from .scene import Cylinder as Cylinder
    from .scene import DiffuseLight as DiffuseLight
    from .scene import DirectionalLight as DirectionalLight
    from .scene import Hits as Hits
    from .scene import LidarScan as LidarScan
    from .scene import LightSheet as LightSheet
    from .scene import Mesh as Mesh
    from .scene import Plane as Plane
    from .scene import RangeNoise as RangeNoise
    from .scene import RayHit as RayHit
    from .scene import Scene as Scene
    from .scene import Solid as Solid
    from .scene import Sphere as Sphere
    from .scene import StructuredLight as StructuredLight
    from .scene import TactileImprint as TactileImprint
    from .scene import Textured as Textured
    from .scene import Triangles as Triangles
    from .scene import beam_directions as beam_directions
    from .scene import beam_echo as beam_echo
    from .scene import cast_rays as cast_rays
    from .scene import depth_image as depth_image
    from .scene import double_light_plane as double_light_plane
    from .scene import intensity_image as intensity_image
    from .scene import lidar_directions as lidar_directions
    from .scene import lidar_scan as lidar_scan
    from .scene import noisy_distances as noisy_distances
    from .scene import proximity_signal as proximity_signal
    from .scene import range_image as range_image
    from .scene import range_sigma as range_sigma
    from .scene import ray_box as ray_box
    from .scene import ray_capsule as ray_capsule
    from .scene import ray_cylinder as ray_cylinder
    from .scene import ray_distances as ray_distances
    from .scene import ray_plane as ray_plane
    from .scene import ray_sphere as ray_sphere
    from .scene import ray_triangle as ray_triangle
    from .scene import robot_solids as robot_solids
    from .scene import segmentation_image as segmentation_image
    from .scene import tactile_imprint as tactile_imprint
    from .slipping import SlipBall as SlipBall
    from .slipping import SlipSignal as SlipSignal
    from .slipping import slip_direction as slip_direction
    from .slipping import slip_signal as slip_signal
    from .slipping import slip_vector as slip_vector
    from .tactile_arrays import TactileScan as TactileScan
    from .tactile_arrays import tactile_currents as tactile_currents
    from .tactile_arrays import tactile_resistances as tactile_resistances
    from .tactile_arrays import tactile_sensitivity as tactile_sensitivity
    from .time_of_flight import SPEED_OF_LIGHT as SPEED_OF_LIGHT
    from .time_of_flight import PulsedRange as PulsedRange
    from .time_of_flight import flight_distance as flight_distance
    from .time_of_flight import flight_distance_sigma as flight_distance_sigma
    from .time_of_flight import flight_time as flight_time
    from .tool_loads import SensorMotion as SensorMotion
    from .tool_loads import pedestal_wrench as pedestal_wrench
    from .tool_loads import sensor_motion as sensor_motion
    from .tool_loads import tool_wrench as tool_wrench
    from .touching import Centred as Centred
    from .touching import Contacts as Contacts
    from .touching import FingerSwitches as FingerSwitches
    from .touching import TouchRod as TouchRod
    from .touching import centred as centred
    from .touching import centring_contacts as centring_contacts
    from .touching import finger_contacts as finger_contacts
    from .touching import rod_force as rod_force
    from .touching import rod_force_sigma as rod_force_sigma
    from .touching import rod_rotation as rod_rotation
    from .triangulation import Triangulated as Triangulated
    from .triangulation import Triangulation as Triangulation
    from .triangulation import TriangulationAngles as TriangulationAngles
    from .triangulation import triangulated as triangulated
    from .triangulation import triangulated_sigma as triangulated_sigma
    from .triangulation import triangulation_angles as triangulation_angles
    from .ultrasonics import Ultrasonic as Ultrasonic
    from .ultrasonics import beam_distance as beam_distance
    from .ultrasonics import polaroid_ranger as polaroid_ranger
    from .ultrasonics import sound_speed as sound_speed
    from .wrist_calibration import WristCalibration as WristCalibration
    from .wrist_calibration import calibrate_wrist as calibrate_wrist
    from .wrist_gauges import WristSensor as WristSensor
    from .wrist_gauges import cross_bar_sensor as cross_bar_sensor
    from .wrist_gauges import gauge_readings as gauge_readings
    from .wrist_gauges import gauge_sensor as gauge_sensor
    from .wrist_gauges import resolved_force_matrix as resolved_force_matrix
    from .wrist_gauges import resolved_wrench as resolved_wrench
    from .wrist_gauges import resolved_wrench_covariance as resolved_wrench_covariance
    from .wrist_gauges import tared as tared
    from .wrist_gauges import wrench_from_textbook as wrench_from_textbook
    from .wrist_gauges import wrench_to_textbook as wrench_to_textbook
    from .wrist_gauges import wrist_sensor_from_textbook as wrist_sensor_from_textbook
    from .wrist_runs import WristReadings as WristReadings
    from .wrist_runs import wrist_readings as wrist_readings

# Where each name is defined: a file is loaded when one of its names is first used. A test keeps this table and
# the imports above, which editors and type checkers read, the same.
_HOMES = {
    "averaging": "Averaged averaged mean_confidence readings_needed",
    "capacitive_proximity": "CapacitiveProximity capacitance_change capacitive_detected capacitive_distance "
    "capacitive_phase capacitive_phase_change oscillation",
    "gating": "GateOutputs GatedSonar GatingWaveforms gate_outputs gated_sonar gating_waveforms",
    "joint_current": "current_torque current_torque_sigma torque_current",
    "light_sheet": "LightPlane LightPlanePoint SheetOfLight fit_light_plane light_plane_point "
    "light_plane_point_covariance stripe_column stripe_distance stripe_distance_sigma "
    "stripe_table",
    "magnetic_proximity": "HallProximity InductiveOutput InductiveProximity hall_detected hall_field "
    "hall_field_near hall_voltage inductive_output inductive_switching_distance "
    "inductive_voltage",
    "noise": "Noise QUIET noise_sigma noisy quantised",
    "optical_proximity": "OpticalProximity in_sensitive_volume optical_detected optical_intensity sensitive_interval",
    "payloads": "Payload identify_payload payload_regressor",
    "phase_ranging": "Demodulated PhaseRange TwoPhaseRange Unwrapped modulation_frequency "
    "phase_demodulated phase_distance phase_distance_sigma phase_samples phase_shift "
    "phase_shifts unwrapped_distance unwrapping_confidence",
    "scene": "BackLight BeamEcho Box Capsule Cylinder DiffuseLight DirectionalLight Hits LidarScan "
    "LightSheet Mesh Plane RangeNoise RayHit Scene Solid Sphere StructuredLight "
    "TactileImprint Textured Triangles beam_directions beam_echo cast_rays depth_image "
    "double_light_plane intensity_image lidar_directions lidar_scan noisy_distances "
    "proximity_signal range_image range_sigma ray_box ray_capsule ray_cylinder "
    "ray_distances ray_plane ray_sphere ray_triangle robot_solids segmentation_image "
    "tactile_imprint",
    "slipping": "SlipBall SlipSignal slip_direction slip_signal slip_vector",
    "tactile_arrays": "TactileScan tactile_currents tactile_resistances tactile_sensitivity",
    "time_of_flight": "PulsedRange SPEED_OF_LIGHT flight_distance flight_distance_sigma flight_time",
    "tool_loads": "SensorMotion pedestal_wrench sensor_motion tool_wrench",
    "touching": "Centred Contacts FingerSwitches TouchRod centred centring_contacts finger_contacts "
    "rod_force rod_force_sigma rod_rotation",
    "triangulation": "Triangulated Triangulation TriangulationAngles triangulated triangulated_sigma "
    "triangulation_angles",
    "ultrasonics": "Ultrasonic beam_distance polaroid_ranger sound_speed",
    "wrist_calibration": "WristCalibration calibrate_wrist",
    "wrist_gauges": "WristSensor cross_bar_sensor gauge_readings gauge_sensor resolved_force_matrix "
    "resolved_wrench resolved_wrench_covariance tared wrench_from_textbook "
    "wrench_to_textbook wrist_sensor_from_textbook",
    "wrist_runs": "WristReadings wrist_readings",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]

if not TYPE_CHECKING:
    __getattr__ = later(__name__, _HOME_OF | {home: home for home in _HOMES}, suggesting(__all__))


def __dir__() -> list[str]:
    return __all__
