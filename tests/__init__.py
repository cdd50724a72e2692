"""Everything that tests the collection."""
