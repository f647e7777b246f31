"""Vermilion's command line, configuration and builds."""
