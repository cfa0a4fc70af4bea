"""Where things are on a server. Every path but those of the probes begins with the version."""

from __future__ import annotations

from typing import Final

V1: Final = "/v1"

HEALTH: Final = "/healthz"
READY: Final = "/readyz"
METRICS: Final = "/metrics"

SERVER: Final = f"{V1}/server"
ME: Final = f"{V1}/me"
LEDGER_HEAD: Final = f"{V1}/ledger/head"

DATASETS: Final = f"{V1}/datasets"
DATASET: Final = f"{V1}/datasets/{{dataset}}"
PLAN: Final = f"{DATASET}/plan"
DETECTABLE: Final = f"{DATASET}/detectable"
DUMMY_DATA: Final = f"{DATASET}/dummy-data"
SUBMIT: Final = f"{DATASET}/jobs"

JOBS: Final = f"{V1}/jobs"
JOB: Final = f"{V1}/jobs/{{job}}"
JOB_CANCEL: Final = f"{JOB}/cancel"
JOB_EVENTS: Final = f"{JOB}/events"
JOB_RESULT: Final = f"{JOB}/result"
JOB_RECEIPT: Final = f"{JOB}/receipt"

OWNED: Final = f"{V1}/owner/datasets"
OWNED_ONE: Final = f"{OWNED}/{{dataset}}"
OWNED_BUDGET: Final = f"{OWNED_ONE}/budget"
OWNED_CAP: Final = f"{OWNED_ONE}/cap"
OWNED_GRANT: Final = f"{OWNED_ONE}/grants/{{account}}"
OWNED_JOBS: Final = f"{OWNED_ONE}/jobs"
APPROVE: Final = f"{V1}/owner/jobs/{{job}}/approve"
DECLINE: Final = f"{V1}/owner/jobs/{{job}}/decline"

EVENTS: Final = f"{V1}/audit/events"

ACCOUNTS: Final = f"{V1}/accounts"
ACCOUNT: Final = f"{ACCOUNTS}/{{account}}"
TOKENS: Final = f"{ACCOUNT}/tokens"
TOKEN: Final = f"{V1}/tokens/{{token}}"

#: The header in which a client names a request that it may send again.
IDEMPOTENCY_KEY: Final = "Idempotency-Key"
