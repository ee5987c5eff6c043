"""What can be waited for."""
