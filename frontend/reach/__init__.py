"""What a region may reach through a pointer where subscripts aren't affine: bounds that the program computes itself."""
