"""What is observed of data and of those who move it: measures, and the promises they are held to."""
