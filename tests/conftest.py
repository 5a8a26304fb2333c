"""The suite neither reads nor fills the cache of compiled programs of the user, nor do its processes."""

import os

os.environ["CHAINRULE_CACHE"] = "off"
