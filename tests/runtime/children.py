"""Running something in a process of its own, which may die."""
import os


def in_child(action):
    """Run a function in a forked process; its exit status."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            status = action() or 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
