"""Moving consumers from legacy feeds to contracts: who reads what today, as SQL, jobs and query logs tell."""
