; The towers of Hanoi with three pegs: a disc lies only on larger discs and on pegs.
; Reference: Fu, Gonzalez & Lee (1987), Probs. 9.7 and 9.8.
(define (domain hanoi)
  (:requirements :strips)
  (:predicates (clear ?x) (on ?x ?y) (smaller ?x ?y))
  (:action move
    :parameters (?d ?f ?t)
    :precondition (and (smaller ?d ?t) (on ?d ?f) (clear ?d) (clear ?t))
    :effect (and (clear ?f) (on ?d ?t) (not (on ?d ?f)) (not (clear ?t)))))

(define (problem h)
  (:domain hanoi)
  (:objects pa pb pc d1 d2)
  (:init (smaller d1 d2)
         (smaller d1 pa) (smaller d1 pb) (smaller d1 pc)
         (smaller d2 pa) (smaller d2 pb) (smaller d2 pc)
         (clear d1) (clear pb) (clear pc) (on d1 d2) (on d2 pa))
  (:goal (and (on d2 pc) (on d1 d2))))
