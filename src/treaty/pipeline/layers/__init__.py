"""What the rows of each layer are: functions of frames that neither read nor write tables."""
