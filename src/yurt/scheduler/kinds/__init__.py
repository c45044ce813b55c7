"""One scheduler per kind of job."""
