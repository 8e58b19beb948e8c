package shop

// The states of a release.
const (
	releaseBuilding  = "building"
	releasePublished = "published"
)
