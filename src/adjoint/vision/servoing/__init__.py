"""Visual servoing: laws that move an arm by what its camera sees."""
