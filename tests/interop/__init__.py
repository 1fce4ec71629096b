"""Ruby and Python on one Redis: a real Sidekiq (Debian's 6.4.1) and a real `stanchion worker`."""
