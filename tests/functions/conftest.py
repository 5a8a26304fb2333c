def pytest_configure(config):
    config.addinivalue_line("markers", "compiled: compiles many programs, and is slow")
