"""`vermilion sweep`: an experiment's runs over any values of any of its settings, on Dask.

spec.py     the sweep's TOML: base experiment, what changes, over which values and seeds; its points
plan.py     from points to runs, each under the hash of what it depends on; what is done already
cluster.py  Dask: fetched on first use; processes of this machine, a scheduler elsewhere, a batch system's queue
results.py  rows, Parquet and the report page
command.py  the command
"""
