"""What the three kinds of manifest say, as frozen values, and every decision that follows from them alone.

Pure: nothing here reads a file, a clock, Redis or the API server.
"""
