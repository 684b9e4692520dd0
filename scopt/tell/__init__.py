"""What people are told: remarks, explanations, pages."""
