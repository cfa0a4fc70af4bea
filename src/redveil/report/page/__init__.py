"""The page that people forward: what a result says, and free questions in the browser."""
