"""The parts of recount.py, whose docstring holds every rule."""
