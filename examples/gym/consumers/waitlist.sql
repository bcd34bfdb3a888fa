-- Places that become free, for members on the waiting list. It depends on more than the contracts promise.
SELECT
  published.classId,
  published.capacity,
  published.internalNotes,
  split(published.classId, '-')[1] AS row_number,
  rules.recurrence
FROM gym.scheduling.class_published AS published
JOIN scheduling.class_rules AS rules ON rules.class_id = published.classId
