"""Other ways to know a derivative: each returns a value and its own error."""
