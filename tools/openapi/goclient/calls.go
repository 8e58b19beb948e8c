//go:build generated

// It changes the settings of the service at a URL, reads a stock record and the
// promotions, and prints what it got as JSON: goclient URL
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if err := read(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(url string) error {
	client, err := NewClientWithResponses(url)
	if err != nil {
		return err
	}
	ctx := context.Background()
	var change SettingsUpdateJSONRequestBody
	length := 7
	if err := change.FromSettingsUpdateWrapped(SettingsUpdateWrapped{Data: SettingsChange{PageLength: &length}}); err != nil {
		return err
	}
	settings, err := client.SettingsUpdateWithResponse(ctx, &SettingsUpdateParams{}, change)
	if err != nil {
		return err
	}
	answer, err := client.StockWithResponse(ctx, "anvil", &StockParams{})
	if err != nil {
		return err
	}
	stock, err := answer.JSON200.Data.AsPlainStock()
	if err != nil {
		return err
	}
	promotions, err := client.PromotionsWithResponse(ctx, &PromotionsParams{})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"page_length": settings.JSON200.Data.PageLength, "available": stock.Available, "promotion_type": promotions.JSON200.Data[0].PromotionType,
	})
}
