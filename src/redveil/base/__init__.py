"""What every room needs: errors, files, what is shown."""
