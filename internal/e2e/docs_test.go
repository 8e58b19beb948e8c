package e2e

import (
	"bytes"
	"image/color"
	"image/png"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// seeDocs authorizes in the REST documentation page and tries an operation with its required
// parameters.
func seeDocs(t *testing.T, b *browser, s *serverProcess) {
	const stock = "#operations-Stock-Stock"
	b.do(t, chromedp.Navigate(s.url+"/docs"), chromedp.WaitReady(playgroundReady))
	b.until(t, `document.querySelector(".btn.authorize.locked") !== null`) // authorized with the demo's token
	b.until(t, `document.querySelector(".opblock").getBoundingClientRect().top < 600`)
	b.picture(t, "docs")
	b.do(t, chromedp.Click(chromedp.CSS(stock+" .opblock-summary-control")), chromedp.Click(chromedp.CSS(stock+" .try-out__btn")),
		chromedp.WaitVisible(chromedp.CSS(stock+" .execute")))
	require.Equal(t, "prod-americano", b.script(t, `[...document.querySelectorAll("`+stock+` .parameters input")].map((e) => e.value).join("")`), "required parameters only")
	b.do(t, chromedp.Click(chromedp.CSS(stock+" .execute")))
	b.until(t, `[...document.querySelectorAll("`+stock+` .live-responses-table .response-col_status")].some((e) => e.textContent.startsWith("200"))`)
	b.picture(t, "docs-tried")
	for scheme, dark := range map[string]bool{"dark": true, "light": false} {
		b.prefer(t, scheme)
		require.Equal(t, dark, b.brightness(t) < 0.5, scheme)
	}
	b.do(t, chromedp.Click(chromedp.CSS(".btn.authorize")), chromedp.WaitVisible(chromedp.CSS(".modal-ux")))
	b.picture(t, "docs-authorize")
}

// brightness returns the average brightness of the page, 0 to 1.
func (b *browser) brightness(t *testing.T) float64 {
	t.Helper()
	shot, err := chromedp.Run(b, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	picture, err := png.Decode(bytes.NewReader(shot))
	require.NoError(t, err)
	sum, size := 0.0, picture.Bounds()
	for x := size.Min.X; x < size.Max.X; x++ {
		for y := size.Min.Y; y < size.Max.Y; y++ {
			sum += float64(color.GrayModel.Convert(picture.At(x, y)).(color.Gray).Y)
		}
	}
	return sum / 255 / float64(size.Dx()*size.Dy())
}
