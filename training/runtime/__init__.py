"""Parts that every command needs.

- cli: exit status, messages, interruptions
- machine: the processor and the versions of libraries
- run_folder: lock of a run's folder, comparison of configurations, short names
- executors: threads, processes or a Ray cluster
- curves: CSV columns and plots
- validation: ranges of options, written as annotations
"""
