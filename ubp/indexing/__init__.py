"""What an index is made of: a commit's files, what lies over them, and what their pages say."""
