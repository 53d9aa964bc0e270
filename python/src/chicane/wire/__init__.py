"""What crosses the wire: types of every answer, of the simulator (`sim`) and of the robot
(`robot`).

They are made from the OpenAPI documents. A test holds them against the program's own.
"""
