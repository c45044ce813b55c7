"""What Yurt says about itself: events for people, metrics for machines."""
