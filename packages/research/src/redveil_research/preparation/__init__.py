"""From the raw files of public data sets to two views and a schema.

What is written about an entity depends on that entity's own rows and on public code books, never on
other entities: so a private run on the prepared tables protects the raw ones, too. Schemas come
from code books. No category is merged because it is rare in the data, and no column is left out
because it is constant.
"""
