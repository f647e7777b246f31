"""Tools for a card: settings, counters, registers and an exporter; docs/tools.md."""
