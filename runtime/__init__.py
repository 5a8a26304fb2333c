"""What happens at a call: signatures, caches, errors."""
