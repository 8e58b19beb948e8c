package model

import "portico/store/settings"

// SettingsUpdateInput is the schema's change of the settings.
type SettingsUpdateInput struct {
	settings.SettingsChange
	IdempotencyKey *string `json:"idempotencyKey,omitempty"`
}
