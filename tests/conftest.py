"""The suite neither reads nor fills the cache of compiled programs of the user, nor do its processes."""

import os

os.environ["CHAINRULE_CACHE"] = "off"

from tests import own_primitives  # noqa: E402, F401  before any test registers a primitive of its own
