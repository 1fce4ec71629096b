"""Stanchion: a gate in front of a Redis queue."""
