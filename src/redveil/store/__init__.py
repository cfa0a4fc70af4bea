"""The database of a server: accounts, data sets, grants, jobs, the ledger and the audit log."""
