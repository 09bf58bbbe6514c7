"""What a pair is made of: edits, omission, placebo twins, the table."""
