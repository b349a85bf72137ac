"""The page where one picture is adapted."""
