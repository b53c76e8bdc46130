"""The service: the linker behind HTTP, in its own JSON and in the protocols people already use."""
