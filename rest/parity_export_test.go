package rest

// Routes are the coordinates of all routes there are.
var Routes = func() (coordinates []string) {
	for _, r := range routes() {
		coordinates = append(coordinates, r.coordinate())
	}
	return coordinates
}()
