"""What every command needs: the console, the run folder, executors, curves."""
