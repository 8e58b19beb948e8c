package store

// MaxStock bounds a stock record's total, so that it fits every client's
// 32-bit integer.
const MaxStock = 1<<31 - 1
