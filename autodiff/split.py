def split(program, parameters):
    raise NotImplementedError
