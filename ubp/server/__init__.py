"""Front end for agents: the Model Context Protocol over stdin and stdout."""
