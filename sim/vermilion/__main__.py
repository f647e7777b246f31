from vermilion.commands.cli import main

main()
