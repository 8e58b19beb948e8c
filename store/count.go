package store

// MaxCount is the largest count, for example of units, uses or pixels: a GraphQL Int has 32 bits.
const MaxCount = 1<<31 - 1
