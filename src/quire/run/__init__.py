"""Many documents on all cores. After: pipeline.py, write/. Used by cli/ and index/.

plan.py     how many processes, and what each is given; pure
cores.py    how many cores there are
local.py    a function over many items in processes of this machine, results in order
worker.py   one such process, seen from both sides
"""
