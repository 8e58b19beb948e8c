package graph

//go:generate go run -C ../tools ./generate
//go:generate go -C ../internal/e2e/clients/genqlient tool genqlient
