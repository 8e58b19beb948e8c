package graph

//go:generate go run -C ../tools ./generate
