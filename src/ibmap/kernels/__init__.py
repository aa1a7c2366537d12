"""Compiled code, all of it: arrays and scalars in, arrays filled or scalars out. Nothing here reads data."""
