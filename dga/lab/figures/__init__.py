"""The paper's figures and the figure of controls, from results; a folder of all exhibits."""
