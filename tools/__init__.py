"""Programs that use the public face only."""
