"""What quire costs, measured against its parts in one run."""
