"""Ranking: how well each node suits a group, one file per score."""
