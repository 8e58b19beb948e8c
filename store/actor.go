package store

// Actor names who writes, for the ledger and the audit fields: "client:<id>"
// for an API client, "command:<name>" for the command line.
type Actor string
