"""Trees: candidate splits, scores, the released tree, and how trees are grown privately."""
