"""User source to a core program, every other tree-to-tree pass, and printing."""
