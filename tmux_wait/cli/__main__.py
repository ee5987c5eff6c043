"""``python -m tmux_wait.cli`` is the command ``tmux-wait``."""

import sys

from tmux_wait.cli import main

sys.exit(main())
