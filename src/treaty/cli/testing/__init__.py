"""What `treaty test` does: read what is asked for, run it on Spark, deliver the report."""
