package model

import "portico/store/settings"

// SettingsUpdateInput is the input of settingsUpdate.
type SettingsUpdateInput struct {
	settings.Change
	IdempotencyKey *string `json:"idempotencyKey,omitempty"`
}
