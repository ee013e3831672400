"""What several test files share: laws, robots, worked examples, and ways to run things. No test is in here."""
