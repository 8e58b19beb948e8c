// Package graph answers the schema's fields: hand-written resolvers, one file
// a noun, over the store. REST calls the same methods, so what may be done and
// what is valid is decided here and below, never in the executor.
package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/release"
	"portico/store/shop"
)

// Resolver answers everything from one store.
type Resolver struct {
	store     *shop.Store
	Tokens    *auth.Service // mints shoppers' tokens; nil where nobody can
	codeLimit auth.Limit    // of tries at promotion codes
}

// Option adds to the resolvers.
type Option func(*Resolver)

// WithTokens has shoppers' tokens be minted by a service.
func WithTokens(tokens *auth.Service) Option { return func(r *Resolver) { r.Tokens = tokens } }

// WithCodeLimit limits how often promotion codes can be tried, so that they
// cannot be guessed. Every check and every redemption counts.
func WithCodeLimit(limit auth.Limit) Option { return func(r *Resolver) { r.codeLimit = limit } }

// NewResolver makes the resolvers of both surfaces.
func NewResolver(s *shop.Store, options ...Option) *Resolver {
	r := &Resolver{store: s, codeLimit: func(context.Context, string) error { return nil }}
	for _, option := range options {
		option(r)
	}
	return r
}

type (
	queryResolver        struct{ *Resolver }
	mutationResolver     struct{ *Resolver }
	subscriptionResolver struct{ *Resolver }
	productResolver      struct{ *Resolver }
	configuredResolver   struct{ *Resolver }
	catalogNodeResolver  struct{ *Resolver }
	hierarchyResolver    struct{ *Resolver }
	stockResolver        struct{ *Resolver }
	transactionResolver  struct{ *Resolver }
	releaseResolver      struct{ *Resolver }
	jobResolver          struct{ *Resolver }
	promotionResolver    struct{ *Resolver }
	authoredNodeResolver struct{ *Resolver }
	codeRefusalResolver  struct{ *Resolver }

	moneyInputResolver         struct{}
	promotionCodeInputResolver struct{}
)

// Query implements generated.ResolverRoot.
func (r *Resolver) Query() generated.QueryResolver { return queryResolver{r} }

// Mutation implements generated.ResolverRoot.
func (r *Resolver) Mutation() generated.MutationResolver { return mutationResolver{r} }

// Subscription implements generated.ResolverRoot.
func (r *Resolver) Subscription() generated.SubscriptionResolver { return subscriptionResolver{r} }

// Product implements generated.ResolverRoot.
func (r *Resolver) Product() generated.ProductResolver { return productResolver{r} }

// ConfiguredProduct implements generated.ResolverRoot.
func (r *Resolver) ConfiguredProduct() generated.ConfiguredProductResolver {
	return configuredResolver{r}
}

// CatalogNode implements generated.ResolverRoot.
func (r *Resolver) CatalogNode() generated.CatalogNodeResolver { return catalogNodeResolver{r} }

// Hierarchy implements generated.ResolverRoot.
func (r *Resolver) Hierarchy() generated.HierarchyResolver { return hierarchyResolver{r} }

// Stock implements generated.ResolverRoot.
func (r *Resolver) Stock() generated.StockResolver { return stockResolver{r} }

// StockTransaction implements generated.ResolverRoot.
func (r *Resolver) StockTransaction() generated.StockTransactionResolver {
	return transactionResolver{r}
}

// CatalogRelease implements generated.ResolverRoot.
func (r *Resolver) CatalogRelease() generated.CatalogReleaseResolver { return releaseResolver{r} }

// Job implements generated.ResolverRoot.
func (r *Resolver) Job() generated.JobResolver { return jobResolver{r} }

// Promotion implements generated.ResolverRoot.
func (r *Resolver) Promotion() generated.PromotionResolver { return promotionResolver{r} }

// PromotionPreview implements generated.ResolverRoot.
func (r *Resolver) PromotionPreview() generated.PromotionPreviewResolver { return promotionResolver{r} }

// PromotionCodeRefusal implements generated.ResolverRoot.
func (r *Resolver) PromotionCodeRefusal() generated.PromotionCodeRefusalResolver {
	return codeRefusalResolver{r}
}

// AuthoredNode implements generated.ResolverRoot.
func (r *Resolver) AuthoredNode() generated.AuthoredNodeResolver { return authoredNodeResolver{r} }

// MoneyInput implements generated.ResolverRoot.
func (r *Resolver) MoneyInput() generated.MoneyInputResolver { return moneyInputResolver{} }

// PromotionCodeInput implements generated.ResolverRoot.
func (r *Resolver) PromotionCodeInput() generated.PromotionCodeInputResolver {
	return promotionCodeInputResolver{}
}

// pageOf gathers the arguments that every connection takes.
func pageOf(first *int, after *string, last *int, before *string, offset *int) store.Page {
	return store.Page{First: first, After: after, Last: last, Before: before, Offset: offset}
}

// orNull is null in place of what is not there.
func orNull[T any](value *T, err error) (*T, error) {
	if store.HasCode(err, store.NotFound) {
		return nil, nil
	}
	return value, err
}

// deletion is the payload of a mutation that removes something: its global id
// when it is gone, else what is to be mended.
func deletion(kind, id string, err error) (*string, []*model.UserError, error) {
	faults, err := userErrors(err)
	if err != nil || len(faults) > 0 {
		return nil, faults, err
	}
	global := store.GlobalID(kind, id)
	return &global, faults, nil
}

// localIDs are the service's own ids behind global ones; nil stays nil.
func localIDs(ids []string) []string {
	if ids == nil {
		return nil
	}
	local := make([]string, len(ids))
	for i, id := range ids {
		local[i] = store.LocalID(id)
	}
	return local
}

// valuesOf are what pointers of an input point to; nil stays nil.
func valuesOf[T any](list []*T) []T {
	if list == nil {
		return nil
	}
	copied := make([]T, len(list))
	for i, value := range list {
		copied[i] = *value
	}
	return copied
}

// userErrors tells apart what the caller can mend, which goes into the
// payload, from what ends the operation.
func userErrors(err error) ([]*model.UserError, error) {
	list := []*model.UserError{}
	if err == nil {
		return list, nil
	}
	for _, e := range store.AsErrors(err) {
		switch e.Code {
		case store.Invalid, store.NotFound, store.Conflict, store.Unprocessable:
			list = append(list, &model.UserError{Error: e})
		default:
			return nil, err
		}
	}
	return list, nil
}

// alone is one row with no siblings.
func alone[T, S any, P model.Row[T, S]](value S, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return model.Siblings[T, S, P]([]S{value})[0], nil
}

// pick takes rows by id, in the order of the ids; what is missing is left out.
func pick[T any](ids []string, byID map[string]T) []T {
	list := make([]T, 0, len(ids))
	for _, id := range ids {
		if value, ok := byID[id]; ok {
			list = append(list, value)
		}
	}
	return list
}

// View returns the catalog as the operation's shopper sees it. The caller has required the scope. It
// fails if the client has disconnected, so that no field begins to read.
func (r *Resolver) View(ctx context.Context) (*release.View, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	op := opctx.From(ctx)
	if op == nil {
		return r.store.View(ctx, release.ShopperContext{})
	}
	return op.View(ctx, r.store.View)
}

// catalog requires the scope of a coordinate and returns the view.
func (r *Resolver) catalog(ctx context.Context, coordinate string) (*release.View, error) {
	if err := auth.Require(ctx, coordinate); err != nil {
		return nil, err
	}
	return r.View(ctx)
}
