"""The only room that talks to Redis: connections, key names, scripts, and typed calls over them."""
