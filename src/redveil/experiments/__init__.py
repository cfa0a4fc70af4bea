"""The paper's tables and figures, redone through the public API. For data that is not sensitive."""
