"""Growing trees inside the seal, against receipts."""
