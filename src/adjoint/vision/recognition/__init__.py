"""Recognition: classifiers, matching, strings, grammars and automata."""
