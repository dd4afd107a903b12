"""Reports of nights, alerts and replays."""
