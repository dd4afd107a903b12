"""Entry point of ``python -m harness``."""

from harness.cli.main import main

if __name__ == "__main__":
    main()
