"""Types of all requests and responses of the simulator (`sim`) and of the robot (`robot`).

`make wire` generates both modules from the OpenAPI documents of the program. A test checks that
they match the program.
"""
