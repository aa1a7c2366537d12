"""After learning: the network, its edges, why they are there, and the files that hold them."""
