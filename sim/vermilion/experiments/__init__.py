"""`vermilion experiment`: the experiments of the papers, with the bit-exact model or the Verilated RTL in the middle.

`settings` reads the files in `sim/experiments/settings`, `runs` keeps one JSON a run, `verdicts` compares with the papers, `pages` writes the report and
docs/results/papers.md. An experiment's own module (`poisson`, `wred_rio`, `redp`, `ddred`, `three_colour`) gives

    ENGINES                                    the engines that serve it
    program(engine, note) -> runs.Program      what runs it, built
    planned(settings, seeds, shorter)          its runs
    figures(settings, results, shorter)        name of a figure -> one number a seed
    pictures(settings, figures, results)       (name, caption, height, draw(matplotlib figure)) of the report
    notes(settings)                            sentences on what was assumed
"""
