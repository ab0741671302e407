"""What a clone knows of a commit, without the text of any page: what `ubp push` sends."""
