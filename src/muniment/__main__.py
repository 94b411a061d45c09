"""``python -m muniment``: the command line."""

from muniment.cli import main

if __name__ == "__main__":
    main()
