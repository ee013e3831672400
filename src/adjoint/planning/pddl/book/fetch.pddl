; A robot fetches a box from the next room. Doors connect rooms in both directions.
; Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
(define (domain fetch)
  (:requirements :strips :typing)
  (:types thing room door - object robot box - thing)
  (:predicates (in ?x - thing ?r - room) (con ?d - door ?a ?b - room))
  (:action gothru
    :parameters (?k - robot ?d - door ?a ?b - room)
    :precondition (and (in ?k ?a) (con ?d ?a ?b))
    :effect (and (not (in ?k ?a)) (in ?k ?b)))
  (:action pushthru
    :parameters (?k - robot ?x - box ?d - door ?a ?b - room)
    :precondition (and (in ?x ?a) (in ?k ?a) (con ?d ?a ?b))
    :effect (and (not (in ?k ?a)) (not (in ?x ?a)) (in ?k ?b) (in ?x ?b))))

(define (problem p)
  (:domain fetch)
  (:objects rob - robot b1 - box r1 r2 r3 - room d1 d2 - door)
  (:init (in rob r1) (in b1 r2) (con d1 r1 r2) (con d1 r2 r1) (con d2 r2 r3) (con d2 r3 r2))
  (:goal (in b1 r1)))
