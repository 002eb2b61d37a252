"""Places inside the vendor's compiler that kernel files name, as a rule in annotations."""
