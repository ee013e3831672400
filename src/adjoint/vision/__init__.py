"""Vision: cameras that know the robot, and the way from images to symbols.

Images are (rows, columns) or (rows, columns, 3) in red, green, blue; pixels are (u, v) = (column, row). OpenCV and
scikit-image, which some functions call, are the extra `adjoint[vision]`. Every name is offered by `aj.vision` itself;
the folders say where it is defined, and the pages of the reference are by folder.

| folder | contents | begin with |
|---|---|---|
| `cameras` | cameras, calibration, targets, poses | `Camera`, `project`, `calibrate_camera`, `pose_from_points` |
| `images` | filters, histograms, gradients, neighbourhoods | `median_filter`, `sobel`, `equalise_histogram` |
| `segmentation` | edges, thresholds, regions, motion | `otsu_thresholds`, `link_edges`, `edge_path`, `grow_regions` |
| `shapes` | boundaries, regions, textures, thinning | `chain_code`, `shape_number`, `region_descriptors`, `thin` |
| `surfaces` | planes in range images, gradients, cones | `planar_patches`, `fit_cone` |
| `drawings` | line drawings of solids and their labels | `Drawing`, `label_lines` |
| `recognition` | classifiers, matching, grammars, automata | `match_template`, `parse_grammar`, `accepts` |
| `stereo` | two cameras: matching, points in space | `StereoPair`, `match_stereo`, `triangulate` |
| `arm_cameras` | cameras on arms and beside them | `hand_eye`, `calibrate_arm_camera` |
| `servoing` | arms that move by what they see | `image_servo`, `pose_servo` |
| `locating` | named objects with poses | `locate`, `block_model` |
| `image_checks`, `peer_names` | checks of images; names of other libraries | |
"""

from typing import TYPE_CHECKING

from ..lazy import later, suggesting
from .peer_names import VISION_PEERS

if TYPE_CHECKING:
    from .arm_cameras import ArmCamera as ArmCamera
    from .arm_cameras import CameraBesideArm as CameraBesideArm
    from .arm_cameras import EyeToHand as EyeToHand
    from .arm_cameras import HandEye as HandEye
    from .arm_cameras import calibrate_arm_camera as calibrate_arm_camera
    from .arm_cameras import calibrate_camera_beside_arm as calibrate_camera_beside_arm
    from .arm_cameras import eye_to_hand as eye_to_hand
    from .arm_cameras import hand_eye as hand_eye
    from .arm_cameras import hand_eye_closed_form as hand_eye_closed_form
    from .arm_cameras import robot_world as robot_world
    from .cameras import Camera as Camera
    from .cameras import CameraCalibration as CameraCalibration
    from .cameras import CameraParameter as CameraParameter
    from .cameras import CharucoBoard as CharucoBoard
    from .cameras import CirclePoses as CirclePoses
    from .cameras import ConeCircles as ConeCircles
    from .cameras import Ellipse as Ellipse
    from .cameras import GimbalCamera as GimbalCamera
    from .cameras import Markers as Markers
    from .cameras import OpenCVCamera as OpenCVCamera
    from .cameras import PlanarPoses as PlanarPoses
    from .cameras import ProjectionDerivatives as ProjectionDerivatives
    from .cameras import ProjectionFit as ProjectionFit
    from .cameras import Rays as Rays
    from .cameras import RefinedPose as RefinedPose
    from .cameras import TargetPose as TargetPose
    from .cameras import book_image_point as book_image_point
    from .cameras import book_object_point as book_object_point
    from .cameras import book_to_pixels as book_to_pixels
    from .cameras import calibrate_camera as calibrate_camera
    from .cameras import camera_from_info as camera_from_info
    from .cameras import camera_from_opencv as camera_from_opencv
    from .cameras import camera_info as camera_info
    from .cameras import camera_to_opencv as camera_to_opencv
    from .cameras import charuco_corners as charuco_corners
    from .cameras import charuco_image as charuco_image
    from .cameras import charuco_points as charuco_points
    from .cameras import chessboard_corners as chessboard_corners
    from .cameras import chessboard_points as chessboard_points
    from .cameras import circle_grid_centers as circle_grid_centers
    from .cameras import circle_grid_points as circle_grid_points
    from .cameras import circle_poses as circle_poses
    from .cameras import clockwise_matrix as clockwise_matrix
    from .cameras import cone_circles as cone_circles
    from .cameras import conic_ellipse as conic_ellipse
    from .cameras import crop_camera as crop_camera
    from .cameras import decompose_projection as decompose_projection
    from .cameras import depth_points as depth_points
    from .cameras import direct_linear_transform as direct_linear_transform
    from .cameras import direction_of_pixel as direction_of_pixel
    from .cameras import distorted as distorted
    from .cameras import ellipse_conic as ellipse_conic
    from .cameras import find_markers as find_markers
    from .cameras import flip_camera as flip_camera
    from .cameras import from_camera_frame as from_camera_frame
    from .cameras import gimbal_camera as gimbal_camera
    from .cameras import gimbal_image_point as gimbal_image_point
    from .cameras import gimbal_matrix as gimbal_matrix
    from .cameras import gimbal_project as gimbal_project
    from .cameras import inverse_perspective_matrix as inverse_perspective_matrix
    from .cameras import looking_at as looking_at
    from .cameras import marker_dictionaries as marker_dictionaries
    from .cameras import marker_image as marker_image
    from .cameras import marker_points as marker_points
    from .cameras import marker_poses as marker_poses
    from .cameras import on_plane as on_plane
    from .cameras import perspective_matrix as perspective_matrix
    from .cameras import pixel_of_point as pixel_of_point
    from .cameras import pixels_to_book as pixels_to_book
    from .cameras import planar_poses as planar_poses
    from .cameras import pose_from_points as pose_from_points
    from .cameras import project as project
    from .cameras import project_derivatives as project_derivatives
    from .cameras import rays as rays
    from .cameras import refine_pose as refine_pose
    from .cameras import resize_camera as resize_camera
    from .cameras import scaling_matrix as scaling_matrix
    from .cameras import to_camera_frame as to_camera_frame
    from .cameras import translation_matrix as translation_matrix
    from .cameras import undistort_image as undistort_image
    from .cameras import undistort_points as undistort_points
    from .cameras import undistorted as undistorted
    from .cameras import undistortion_map as undistortion_map
    from .cameras import visible as visible
    from .drawings import Block as Block
    from .drawings import BlockDrawing as BlockDrawing
    from .drawings import Drawing as Drawing
    from .drawings import DrawingBodies as DrawingBodies
    from .drawings import Junction as Junction
    from .drawings import LineLabels as LineLabels
    from .drawings import Realization as Realization
    from .drawings import box_block as box_block
    from .drawings import convex_block as convex_block
    from .drawings import draw_blocks as draw_blocks
    from .drawings import drawing_bodies as drawing_bodies
    from .drawings import drawing_junctions as drawing_junctions
    from .drawings import explain_labels as explain_labels
    from .drawings import junction_dictionary as junction_dictionary
    from .drawings import label_lines as label_lines
    from .drawings import labels_fit as labels_fit
    from .drawings import line_regions as line_regions
    from .drawings import realize_drawing as realize_drawing
    from .images import NEIGHBOUR_STEPS as NEIGHBOUR_STEPS
    from .images import POINT_MASK as POINT_MASK
    from .images import Components as Components
    from .images import FrameMean as FrameMean
    from .images import Gradient as Gradient
    from .images import adjacent as adjacent
    from .images import apply_mask as apply_mask
    from .images import average_frames as average_frames
    from .images import closing as closing
    from .images import connected_components as connected_components
    from .images import dilation as dilation
    from .images import distance_transform as distance_transform
    from .images import enhance_locally as enhance_locally
    from .images import equalise_histogram as equalise_histogram
    from .images import equalise_locally as equalise_locally
    from .images import erosion as erosion
    from .images import first_differences as first_differences
    from .images import fourier_1d as fourier_1d
    from .images import fourier_2d as fourier_2d
    from .images import gradient_direction as gradient_direction
    from .images import gradient_edges as gradient_edges
    from .images import gradient_magnitude as gradient_magnitude
    from .images import gray_levels as gray_levels
    from .images import histogram as histogram
    from .images import image_bits as image_bits
    from .images import inverse_fourier_1d as inverse_fourier_1d
    from .images import inverse_fourier_2d as inverse_fourier_2d
    from .images import isolated_points as isolated_points
    from .images import laplacian as laplacian
    from .images import map_levels as map_levels
    from .images import match_histogram as match_histogram
    from .images import mean_filter as mean_filter
    from .images import median_filter as median_filter
    from .images import neighbours as neighbours
    from .images import opening as opening
    from .images import path_between as path_between
    from .images import path_distance as path_distance
    from .images import path_distances as path_distances
    from .images import pixel_distance as pixel_distance
    from .images import requantise as requantise
    from .images import smooth_binary as smooth_binary
    from .images import sobel as sobel
    from .images import specify_histogram as specify_histogram
    from .images import subsample as subsample
    from .locating import LocatedObject as LocatedObject
    from .locating import ModelPose as ModelPose
    from .locating import ObjectModel as ObjectModel
    from .locating import Rest as Rest
    from .locating import block_model as block_model
    from .locating import cylinder_model as cylinder_model
    from .locating import draw_located as draw_located
    from .locating import locate as locate
    from .locating import mesh_model as mesh_model
    from .locating import prism_model as prism_model
    from .locating import refine_model_pose as refine_model_pose
    from .recognition import Automaton as Automaton
    from .recognition import AutomatonRun as AutomatonRun
    from .recognition import Classified as Classified
    from .recognition import Derivation as Derivation
    from .recognition import Grammar as Grammar
    from .recognition import Meaning as Meaning
    from .recognition import MinimumDistanceClassifier as MinimumDistanceClassifier
    from .recognition import Primitive as Primitive
    from .recognition import Production as Production
    from .recognition import Refusal as Refusal
    from .recognition import StringMatch as StringMatch
    from .recognition import SyntacticClass as SyntacticClass
    from .recognition import TemplateMatches as TemplateMatches
    from .recognition import Tree as Tree
    from .recognition import TreeDerivation as TreeDerivation
    from .recognition import TreeGrammar as TreeGrammar
    from .recognition import TreeProduction as TreeProduction
    from .recognition import accepts as accepts
    from .recognition import angle_symbols as angle_symbols
    from .recognition import automaton_of_grammar as automaton_of_grammar
    from .recognition import check_semantics as check_semantics
    from .recognition import classify as classify
    from .recognition import classify_by_grammars as classify_by_grammars
    from .recognition import correlation_coefficients as correlation_coefficients
    from .recognition import count_tree_derivations as count_tree_derivations
    from .recognition import decision_values as decision_values
    from .recognition import derivation as derivation
    from .recognition import derivations as derivations
    from .recognition import determinized as determinized
    from .recognition import fit_minimum_distance as fit_minimum_distance
    from .recognition import grammar_of_automaton as grammar_of_automaton
    from .recognition import interior_angles as interior_angles
    from .recognition import match_template as match_template
    from .recognition import minimized as minimized
    from .recognition import parse_grammar as parse_grammar
    from .recognition import parse_tree as parse_tree
    from .recognition import parse_tree_grammar as parse_tree_grammar
    from .recognition import run_automaton as run_automaton
    from .recognition import same_language as same_language
    from .recognition import sentences_of_grammar as sentences_of_grammar
    from .recognition import shape_distance as shape_distance
    from .recognition import shortest_difference as shortest_difference
    from .recognition import similarity_degree as similarity_degree
    from .recognition import similarity_matrix as similarity_matrix
    from .recognition import similarity_tree as similarity_tree
    from .recognition import string_match as string_match
    from .recognition import string_matches as string_matches
    from .recognition import tree_derivation as tree_derivation
    from .recognition import tree_states as tree_states
    from .recognition import trees_of_grammar as trees_of_grammar
    from .segmentation import AccumulatedDifferences as AccumulatedDifferences
    from .segmentation import ColourClusters as ColourClusters
    from .segmentation import CurveVotes as CurveVotes
    from .segmentation import DecisionIntervals as DecisionIntervals
    from .segmentation import DynamicThreshold as DynamicThreshold
    from .segmentation import EdgePath as EdgePath
    from .segmentation import EdgeRuns as EdgeRuns
    from .segmentation import HoughCircles as HoughCircles
    from .segmentation import HoughLines as HoughLines
    from .segmentation import LineVotes as LineVotes
    from .segmentation import Mixture as Mixture
    from .segmentation import Quadtree as Quadtree
    from .segmentation import SegmentationFault as SegmentationFault
    from .segmentation import SplitMerge as SplitMerge
    from .segmentation import Uniformity as Uniformity
    from .segmentation import accumulate_differences as accumulate_differences
    from .segmentation import boundary_histogram as boundary_histogram
    from .segmentation import boundary_labels as boundary_labels
    from .segmentation import boundary_objects as boundary_objects
    from .segmentation import classify_levels as classify_levels
    from .segmentation import colour_clusters as colour_clusters
    from .segmentation import colour_histogram as colour_histogram
    from .segmentation import curve_peaks as curve_peaks
    from .segmentation import decision_intervals as decision_intervals
    from .segmentation import difference_image as difference_image
    from .segmentation import dynamic_threshold as dynamic_threshold
    from .segmentation import edge_path as edge_path
    from .segmentation import edge_pixels as edge_pixels
    from .segmentation import edge_runs as edge_runs
    from .segmentation import fill_scan_lines as fill_scan_lines
    from .segmentation import fit_mixture as fit_mixture
    from .segmentation import gaussian_crossings as gaussian_crossings
    from .segmentation import grow_regions as grow_regions
    from .segmentation import hough_circles as hough_circles
    from .segmentation import hough_curve as hough_curve
    from .segmentation import hough_lines as hough_lines
    from .segmentation import hough_segments as hough_segments
    from .segmentation import hough_votes as hough_votes
    from .segmentation import is_segmentation as is_segmentation
    from .segmentation import link_edges as link_edges
    from .segmentation import local_threshold as local_threshold
    from .segmentation import minimum_error_threshold as minimum_error_threshold
    from .segmentation import nearest_colour as nearest_colour
    from .segmentation import optimum_threshold as optimum_threshold
    from .segmentation import otsu_thresholds as otsu_thresholds
    from .segmentation import pixels_near_colour as pixels_near_colour
    from .segmentation import quadtree as quadtree
    from .segmentation import region_adjacency as region_adjacency
    from .segmentation import segmentation_faults as segmentation_faults
    from .segmentation import settle_reference as settle_reference
    from .segmentation import split_and_merge as split_and_merge
    from .segmentation import start_differences as start_differences
    from .segmentation import stationary_reference as stationary_reference
    from .segmentation import textbook_line as textbook_line
    from .segmentation import threshold as threshold
    from .segmentation import threshold_bands as threshold_bands
    from .servoing import ServoState as ServoState
    from .servoing import image_based_twist as image_based_twist
    from .servoing import image_servo as image_servo
    from .servoing import interaction_matrix as interaction_matrix
    from .servoing import pixel_interaction as pixel_interaction
    from .servoing import pixel_sensor as pixel_sensor
    from .servoing import pose_based_twist as pose_based_twist
    from .servoing import pose_servo as pose_servo
    from .servoing import target_pose_sensor as target_pose_sensor
    from .shapes import TEXTURE_RULES as TEXTURE_RULES
    from .shapes import BasicRectangle as BasicRectangle
    from .shapes import Boundary as Boundary
    from .shapes import ChainCode as ChainCode
    from .shapes import CooccurrenceDescriptors as CooccurrenceDescriptors
    from .shapes import Diameter as Diameter
    from .shapes import HistogramTexture as HistogramTexture
    from .shapes import MedialAxis as MedialAxis
    from .shapes import Moments as Moments
    from .shapes import RegionDescriptors as RegionDescriptors
    from .shapes import RegionMoments as RegionMoments
    from .shapes import Signature as Signature
    from .shapes import SkeletonBranch as SkeletonBranch
    from .shapes import SkeletonGraph as SkeletonGraph
    from .shapes import amplitude_moments as amplitude_moments
    from .shapes import basic_rectangle as basic_rectangle
    from .shapes import chain_area as chain_area
    from .shapes import chain_code as chain_code
    from .shapes import chain_code_of_segments as chain_code_of_segments
    from .shapes import chain_perimeter as chain_perimeter
    from .shapes import chain_points as chain_points
    from .shapes import convex_deficiency as convex_deficiency
    from .shapes import convex_hull as convex_hull
    from .shapes import cooccurrence as cooccurrence
    from .shapes import cooccurrence_descriptors as cooccurrence_descriptors
    from .shapes import crack_boundaries as crack_boundaries
    from .shapes import diameter as diameter
    from .shapes import distance_signature as distance_signature
    from .shapes import first_difference as first_difference
    from .shapes import fourier_boundary as fourier_boundary
    from .shapes import fourier_descriptors as fourier_descriptors
    from .shapes import fourier_invariants as fourier_invariants
    from .shapes import grid_cells as grid_cells
    from .shapes import grid_coverage as grid_coverage
    from .shapes import histogram_moments as histogram_moments
    from .shapes import histogram_texture as histogram_texture
    from .shapes import hu_invariants as hu_invariants
    from .shapes import image_moments as image_moments
    from .shapes import medial_axis as medial_axis
    from .shapes import merged_polygon as merged_polygon
    from .shapes import minimum_perimeter_polygon as minimum_perimeter_polygon
    from .shapes import pixel_boundaries as pixel_boundaries
    from .shapes import polygon_area as polygon_area
    from .shapes import polygon_centroid as polygon_centroid
    from .shapes import region_descriptors as region_descriptors
    from .shapes import region_moments as region_moments
    from .shapes import relative_smoothness as relative_smoothness
    from .shapes import resampled_boundary as resampled_boundary
    from .shapes import shape_number as shape_number
    from .shapes import shape_numbers as shape_numbers
    from .shapes import skeleton_graph as skeleton_graph
    from .shapes import slope_density as slope_density
    from .shapes import split_polygon as split_polygon
    from .shapes import start_normalized as start_normalized
    from .shapes import tangent_signature as tangent_signature
    from .shapes import texture_derivation as texture_derivation
    from .shapes import texture_image as texture_image
    from .shapes import texture_places as texture_places
    from .shapes import texture_string as texture_string
    from .shapes import thin as thin
    from .stereo import AlignedImages as AlignedImages
    from .stereo import Rectified as Rectified
    from .stereo import StereoCalibration as StereoCalibration
    from .stereo import StereoPair as StereoPair
    from .stereo import StereoPoints as StereoPoints
    from .stereo import Triangulated as Triangulated
    from .stereo import aligned_covariance as aligned_covariance
    from .stereo import aligned_images as aligned_images
    from .stereo import aligned_point as aligned_point
    from .stereo import calibrate_stereo as calibrate_stereo
    from .stereo import epipolar_distance as epipolar_distance
    from .stereo import epipolar_line as epipolar_line
    from .stereo import essential_matrix as essential_matrix
    from .stereo import fundamental_matrix as fundamental_matrix
    from .stereo import match_stereo as match_stereo
    from .stereo import rectify as rectify
    from .stereo import reproject_disparity as reproject_disparity
    from .stereo import triangulate as triangulate
    from .surfaces import ConeFit as ConeFit
    from .surfaces import ConeMesh as ConeMesh
    from .surfaces import ConePoints as ConePoints
    from .surfaces import GeneralizedCone as GeneralizedCone
    from .surfaces import Patches as Patches
    from .surfaces import Spine as Spine
    from .surfaces import VolumeGradient as VolumeGradient
    from .surfaces import arc_spine as arc_spine
    from .surfaces import circle_section as circle_section
    from .surfaces import cone_mesh as cone_mesh
    from .surfaces import cone_points as cone_points
    from .surfaces import cone_volume as cone_volume
    from .surfaces import fit_cone as fit_cone
    from .surfaces import planar_patches as planar_patches
    from .surfaces import ring_section as ring_section
    from .surfaces import spine_coordinates as spine_coordinates
    from .surfaces import spine_through as spine_through
    from .surfaces import straight_spine as straight_spine
    from .surfaces import swept_point as swept_point
    from .surfaces import volume_gradient as volume_gradient

# Where each name is defined: a folder is loaded when one of its names is first used. A test keeps this table and
# the imports above, which editors and type checkers read, the same.
_HOMES = {
    "arm_cameras": "ArmCamera CameraBesideArm EyeToHand HandEye calibrate_arm_camera "
    "calibrate_camera_beside_arm eye_to_hand hand_eye hand_eye_closed_form robot_world",
    "cameras": "Camera CameraCalibration CameraParameter CharucoBoard CirclePoses ConeCircles "
    "Ellipse GimbalCamera Markers OpenCVCamera PlanarPoses ProjectionDerivatives "
    "ProjectionFit Rays RefinedPose TargetPose book_image_point book_object_point "
    "book_to_pixels calibrate_camera camera_from_info camera_from_opencv camera_info "
    "camera_to_opencv charuco_corners charuco_image charuco_points chessboard_corners "
    "chessboard_points circle_grid_centers circle_grid_points circle_poses "
    "clockwise_matrix cone_circles conic_ellipse crop_camera decompose_projection "
    "depth_points direct_linear_transform direction_of_pixel distorted ellipse_conic "
    "find_markers flip_camera from_camera_frame gimbal_camera gimbal_image_point "
    "gimbal_matrix gimbal_project inverse_perspective_matrix looking_at "
    "marker_dictionaries marker_image marker_points marker_poses on_plane "
    "perspective_matrix pixel_of_point pixels_to_book planar_poses pose_from_points "
    "project project_derivatives rays refine_pose resize_camera scaling_matrix "
    "to_camera_frame translation_matrix undistort_image undistort_points undistorted "
    "undistortion_map visible",
    "drawings": "Block BlockDrawing Drawing DrawingBodies Junction LineLabels Realization box_block "
    "convex_block draw_blocks drawing_bodies drawing_junctions explain_labels "
    "junction_dictionary label_lines labels_fit line_regions realize_drawing",
    "images": "Components FrameMean Gradient NEIGHBOUR_STEPS POINT_MASK adjacent apply_mask "
    "average_frames closing connected_components dilation distance_transform "
    "enhance_locally equalise_histogram equalise_locally erosion first_differences "
    "fourier_1d fourier_2d gradient_direction gradient_edges gradient_magnitude "
    "gray_levels histogram image_bits inverse_fourier_1d inverse_fourier_2d "
    "isolated_points laplacian map_levels match_histogram mean_filter median_filter "
    "neighbours opening path_between path_distance path_distances pixel_distance "
    "requantise smooth_binary sobel specify_histogram subsample",
    "locating": "LocatedObject ModelPose ObjectModel Rest block_model cylinder_model draw_located "
    "locate mesh_model prism_model refine_model_pose",
    "recognition": "Automaton AutomatonRun Classified Derivation Grammar Meaning "
    "MinimumDistanceClassifier Primitive Production Refusal StringMatch SyntacticClass "
    "TemplateMatches Tree TreeDerivation TreeGrammar TreeProduction accepts angle_symbols "
    "automaton_of_grammar check_semantics classify classify_by_grammars "
    "correlation_coefficients count_tree_derivations decision_values derivation "
    "derivations determinized fit_minimum_distance grammar_of_automaton interior_angles "
    "match_template minimized parse_grammar parse_tree parse_tree_grammar run_automaton "
    "same_language sentences_of_grammar shape_distance shortest_difference "
    "similarity_degree similarity_matrix similarity_tree string_match string_matches "
    "tree_derivation tree_states trees_of_grammar",
    "segmentation": "AccumulatedDifferences ColourClusters CurveVotes DecisionIntervals DynamicThreshold "
    "EdgePath EdgeRuns HoughCircles HoughLines LineVotes Mixture Quadtree "
    "SegmentationFault SplitMerge Uniformity accumulate_differences boundary_histogram "
    "boundary_labels boundary_objects classify_levels colour_clusters colour_histogram "
    "curve_peaks decision_intervals difference_image dynamic_threshold edge_path "
    "edge_pixels edge_runs fill_scan_lines fit_mixture gaussian_crossings grow_regions "
    "hough_circles hough_curve hough_lines hough_segments hough_votes is_segmentation "
    "link_edges local_threshold minimum_error_threshold nearest_colour optimum_threshold "
    "otsu_thresholds pixels_near_colour quadtree region_adjacency segmentation_faults "
    "settle_reference split_and_merge start_differences stationary_reference "
    "textbook_line threshold threshold_bands",
    "servoing": "ServoState image_based_twist image_servo interaction_matrix pixel_interaction "
    "pixel_sensor pose_based_twist pose_servo target_pose_sensor",
    "shapes": "BasicRectangle Boundary ChainCode CooccurrenceDescriptors Diameter HistogramTexture "
    "MedialAxis Moments RegionDescriptors RegionMoments Signature SkeletonBranch "
    "SkeletonGraph TEXTURE_RULES amplitude_moments basic_rectangle chain_area chain_code "
    "chain_code_of_segments chain_perimeter chain_points convex_deficiency convex_hull "
    "cooccurrence cooccurrence_descriptors crack_boundaries diameter distance_signature "
    "first_difference fourier_boundary fourier_descriptors fourier_invariants grid_cells "
    "grid_coverage histogram_moments histogram_texture hu_invariants image_moments "
    "medial_axis merged_polygon minimum_perimeter_polygon pixel_boundaries polygon_area "
    "polygon_centroid region_descriptors region_moments relative_smoothness "
    "resampled_boundary shape_number shape_numbers skeleton_graph slope_density "
    "split_polygon start_normalized tangent_signature texture_derivation texture_image "
    "texture_places texture_string thin",
    "stereo": "AlignedImages Rectified StereoCalibration StereoPair StereoPoints Triangulated "
    "aligned_covariance aligned_images aligned_point calibrate_stereo epipolar_distance "
    "epipolar_line essential_matrix fundamental_matrix match_stereo rectify "
    "reproject_disparity triangulate",
    "surfaces": "ConeFit ConeMesh ConePoints GeneralizedCone Patches Spine VolumeGradient arc_spine "
    "circle_section cone_mesh cone_points cone_volume fit_cone planar_patches "
    "ring_section spine_coordinates spine_through straight_spine swept_point "
    "volume_gradient",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]

if not TYPE_CHECKING:
    __getattr__ = later(__name__, _HOME_OF | {home: home for home in _HOMES}, suggesting(__all__, VISION_PEERS))


def __dir__() -> list[str]:
    return __all__
