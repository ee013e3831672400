; A monkey pushes a box below bananas, which hang at c, and climbs it.
; Reference: Fu, Gonzalez & Lee (1987), Secs. 10.2.1 and 10.4.
(define (domain monkey)
  (:requirements :strips :typing)
  (:types pos)
  (:constants c - pos)
  (:predicates (mk ?p - pos) (box ?p - pos) (onbox) (onfloor) (hb))
  (:action goto
    :parameters (?w ?u - pos)
    :precondition (and (mk ?w) (onfloor))
    :effect (and (not (mk ?w)) (mk ?u)))
  (:action pushbox
    :parameters (?w ?v - pos)
    :precondition (and (mk ?w) (box ?w) (onfloor))
    :effect (and (not (mk ?w)) (not (box ?w)) (mk ?v) (box ?v)))
  (:action climbbox
    :parameters (?w - pos)
    :precondition (and (mk ?w) (box ?w) (onfloor))
    :effect (and (not (onfloor)) (onbox)))
  (:action grasp
    :parameters ()
    :precondition (and (mk c) (box c) (onbox))
    :effect (hb)))

(define (problem p)
  (:domain monkey)
  (:objects a b - pos)
  (:init (mk a) (box b) (onfloor))
  (:goal (hb)))
