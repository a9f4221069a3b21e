"""A base class of the enumeration of pixel formats: the number of channels of each."""

from __future__ import annotations


class Channels:
    value: int

    @property
    def channels(self) -> int:
        """The number of values of a pixel; 0 for YUV formats."""
        return {0: 4, 1: 3, 2: 3, 3: 1, 4: 4}.get(self.value, 0)
