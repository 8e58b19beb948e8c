package model

import "portico/store/settings"

// SettingsUpdateInput is the input of settingsUpdate.
type SettingsUpdateInput struct {
	settings.SettingsChange
	IdempotencyKey *string `json:"idempotencyKey,omitempty"`
}
