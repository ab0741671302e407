"""What all answers share: their rows, writers, wording, schemas, encoding, budgets, arguments."""
