"""The documented functions, by family; nki.language and nki.isa re-export them."""
