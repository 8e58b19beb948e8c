package catalog

// The states of a release.
const (
	ReleaseBuilding  = "building"
	ReleasePublished = "published"
)
