"""The memory-mapped model: what ``pboh build`` writes and every linker reads."""
