"""The paper's figures from results, and a folder of all exhibits."""
