"""The page where one picture meets all fifteen corruptions."""
