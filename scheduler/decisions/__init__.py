"""What can become of a band."""
