"""``python -m tsformer``: the command line without the installed script."""

from tsformer.cli import main

if __name__ == "__main__":
    main()
