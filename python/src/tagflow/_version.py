"""The version: the one of the project, in meson.build."""
__version__ = "0.1.0"
