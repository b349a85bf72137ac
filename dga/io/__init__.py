"""Files written whole, what ships with the package, and what was typed.

Nothing is imported here: the process that decodes uploads passes through.
"""
