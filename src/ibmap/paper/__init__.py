"""The paper as data: one description per figure or table, one runner, ours beside the paper's."""
