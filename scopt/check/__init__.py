"""What has to hold before anything is written."""
