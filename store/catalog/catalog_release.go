package catalog

// The states of a release.
const (
	ReleaseBuilding  = "building"
	ReleasePublished = "published"
)

// HeldSQL tells of a row of catalog whether a roll-back holds its release.
const HeldSQL = `COALESCE(release_id < held_below, FALSE)`
