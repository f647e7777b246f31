# shellcheck shell=bash
# In place of the kernel's: tests for some generations of Spectrum run.

mlxsw_only_on_spectrum()
{
	:
}
