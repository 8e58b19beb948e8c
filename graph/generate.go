package graph

//go:generate go run -C ../tools ./generate
//go:generate go -C clients/genqlient tool genqlient
