"""How long a schedule takes, estimated without compiling anything."""
