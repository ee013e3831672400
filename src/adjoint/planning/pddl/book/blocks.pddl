; Blocks and a hand: the four operators, and a tower that must be taken down before another one is built.
; Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
(define (domain fgl)
  (:requirements :strips :typing)
  (:types block)
  (:predicates (clear ?x - block) (on ?x ?y - block) (ontable ?x - block) (holding ?x - block) (handempty))
  (:action pickup
    :parameters (?x - block)
    :precondition (and (ontable ?x) (clear ?x) (handempty))
    :effect (and (holding ?x) (not (ontable ?x)) (not (clear ?x)) (not (handempty))))
  (:action putdown
    :parameters (?x - block)
    :precondition (holding ?x)
    :effect (and (ontable ?x) (clear ?x) (handempty) (not (holding ?x))))
  (:action stack
    :parameters (?x ?y - block)
    :precondition (and (holding ?x) (clear ?y))
    :effect (and (handempty) (on ?x ?y) (clear ?x) (not (holding ?x)) (not (clear ?y))))
  (:action unstack
    :parameters (?x ?y - block)
    :precondition (and (handempty) (clear ?x) (on ?x ?y))
    :effect (and (holding ?x) (clear ?y) (not (handempty)) (not (clear ?x)) (not (on ?x ?y)))))

(define (problem s)
  (:domain fgl)
  (:objects a b c - block)
  (:init (clear b) (clear c) (on c a) (ontable a) (ontable b) (handempty))
  (:goal (and (on b c) (on a b))))
