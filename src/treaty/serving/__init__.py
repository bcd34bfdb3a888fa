"""The read API on published tables: rows of a publication as one consumer may see them, without Spark.

PyIceberg finds the files of a snapshot and PyArrow reads them, one row group at a time. `data_service` decides and
reads; `encoding` renders; the routes are in `treaty.server`.
"""
