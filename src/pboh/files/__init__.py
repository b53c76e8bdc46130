"""Files and processes: written aside, locked, with progress, by workers that end with their parent."""
