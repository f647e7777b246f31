"""`vermilion release --all`: everything of a version, in a folder, byte for byte the same each time.

vermilion-VERSION.tar.gz                 SystemVerilog and FuseSoC cores of the presets (`vermilion.synthesis.release`)
vermilion-VERSION-py3-none-MACHINE.whl   model, tools for a card, driver's library (`wheel`)
vermilion-dkms_VERSION_all.deb           the kernel module's sources, for DKMS (`dkms`)
vermilion-VERSION-image.tar              a container with the wheel, as an OCI archive (`image`)
vermilion-VERSION-site.tar.gz            the documentation
vermilion-VERSION.cdx.json               bill of materials, CycloneDX (`materials`)
notes.md, SHA256SUMS                     what has changed (`notes`); checksums of all the others
"""
