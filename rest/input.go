package rest

import "portico/graph/generated"

// The inputs that handlers pass to resolvers. This is the only file that needs graph/generated.
type (
	promotionCodesCreateInput = generated.PromotionCodesCreateInput
	promotionCodesDeleteInput = generated.PromotionCodesDeleteInput
	promotionDeleteInput      = generated.PromotionDeleteInput
	stockCreateInput          = generated.StockCreateInput
	stockDeleteInput          = generated.StockDeleteInput
	stockTransactInput        = generated.StockTransactInput
)
