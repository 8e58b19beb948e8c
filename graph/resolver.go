// Package graph has the resolvers of the schema, one file for each resource; REST calls them too.
// Resolver implements generated.ResolverRoot over the store. The package must not import the executor or
// transports.
package graph

import (
	"context"
	"fmt"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/release"
	"portico/store/shop"
)

// Resolver resolves all fields from one store.
type Resolver struct {
	store     *shop.Store
	Tokens    *auth.Service // issues shoppers' tokens; may be nil
	codeLimit auth.Limit    // of checks and redemptions of promotion codes
}

// Option configures NewResolver.
type Option func(*Resolver)

// WithTokens sets the service that issues shoppers' tokens.
func WithTokens(tokens *auth.Service) Option { return func(r *Resolver) { r.Tokens = tokens } }

// WithCodeLimit limits checks and redemptions of promotion codes, so that nobody can guess codes.
func WithCodeLimit(limit auth.Limit) Option { return func(r *Resolver) { r.codeLimit = limit } }

// NewResolver returns the resolvers of a store.
func NewResolver(s *shop.Store, options ...Option) *Resolver {
	r := &Resolver{store: s, codeLimit: func(context.Context, string) error { return nil }}
	for _, option := range options {
		option(r)
	}
	return r
}

// The resolvers of the types of the schema, and last those that need no store.
type (
	queryResolver               struct{ *Resolver }
	mutationResolver            struct{ *Resolver }
	subscriptionResolver        struct{ *Resolver }
	productResolver             struct{ *Resolver }
	configuredResolver          struct{ *Resolver }
	catalogNodeResolver         struct{ *Resolver }
	hierarchyResolver           struct{ *Resolver }
	stockResolver               struct{ *Resolver }
	transactionResolver         struct{ *Resolver }
	releaseResolver             struct{ *Resolver }
	jobResolver                 struct{ *Resolver }
	promotionResolver           struct{ *Resolver }
	authoredCatalogNodeResolver struct{ *Resolver }
	authoredProductResolver     struct{ *Resolver }
	authoredWriteResolver       struct{ *Resolver }
	authoredPriceResolver       struct{ *Resolver }
	authoredAmountResolver      struct{ *Resolver }
	authoredTierResolver        struct{ *Resolver }
	codeRefusalResolver         struct{ *Resolver }
	codeCheckResolver           struct{ *Resolver }
	previewResolver             struct{ *Resolver }
	codeUsageResolver           struct{ *Resolver }
	ruleResolver                struct{ *Resolver }
	catalogResolver             struct{ *Resolver }
	optionResolver              struct{ *Resolver }

	productConnectionResolver struct{ *Resolver }

	codeResolver               struct{}
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

// ProductConnection implements generated.ResolverRoot.
func (r *Resolver) ProductConnection() generated.ProductConnectionResolver {
	return productConnectionResolver{r}
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
func (r *Resolver) PromotionPreview() generated.PromotionPreviewResolver { return previewResolver{r} }

// PromotionCode implements generated.ResolverRoot.
func (r *Resolver) PromotionCode() generated.PromotionCodeResolver { return codeResolver{} }

// PromotionCodeRefusal implements generated.ResolverRoot.
func (r *Resolver) PromotionCodeRefusal() generated.PromotionCodeRefusalResolver {
	return codeRefusalResolver{r}
}

// PromotionCodeCheck implements generated.ResolverRoot.
func (r *Resolver) PromotionCodeCheck() generated.PromotionCodeCheckResolver {
	return codeCheckResolver{r}
}

// PromotionCodeUsage implements generated.ResolverRoot.
func (r *Resolver) PromotionCodeUsage() generated.PromotionCodeUsageResolver {
	return codeUsageResolver{r}
}

// Catalog implements generated.ResolverRoot.
func (r *Resolver) Catalog() generated.CatalogResolver { return catalogResolver{r} }

// CatalogRule implements generated.ResolverRoot.
func (r *Resolver) CatalogRule() generated.CatalogRuleResolver { return ruleResolver{r} }

// ComponentOption implements generated.ResolverRoot.
func (r *Resolver) ComponentOption() generated.ComponentOptionResolver { return optionResolver{r} }

// AuthoredCatalogNode implements generated.ResolverRoot.
func (r *Resolver) AuthoredCatalogNode() generated.AuthoredCatalogNodeResolver {
	return authoredCatalogNodeResolver{r}
}

// AuthoredWrite implements generated.ResolverRoot.
func (r *Resolver) AuthoredWrite() generated.AuthoredWriteResolver { return authoredWriteResolver{r} }

// AuthoredProduct implements generated.ResolverRoot.
func (r *Resolver) AuthoredProduct() generated.AuthoredProductResolver {
	return authoredProductResolver{r}
}

// AuthoredPrice implements generated.ResolverRoot.
func (r *Resolver) AuthoredPrice() generated.AuthoredPriceResolver { return authoredPriceResolver{r} }

// AuthoredAmount implements generated.ResolverRoot.
func (r *Resolver) AuthoredAmount() generated.AuthoredAmountResolver {
	return authoredAmountResolver{r}
}

// AuthoredTier implements generated.ResolverRoot.
func (r *Resolver) AuthoredTier() generated.AuthoredTierResolver { return authoredTierResolver{r} }

// MoneyInput implements generated.ResolverRoot.
func (r *Resolver) MoneyInput() generated.MoneyInputResolver { return moneyInputResolver{} }

// PromotionCodeInput implements generated.ResolverRoot.
func (r *Resolver) PromotionCodeInput() generated.PromotionCodeInputResolver {
	return promotionCodeInputResolver{}
}

// pageOf returns the pagination arguments of a connection.
func pageOf(first *int, after *string, last *int, before *string, offset *int) store.Page {
	return store.Page{First: first, After: after, Last: last, Before: before, Offset: offset}
}

// orNull returns nil in place of a NOT_FOUND error.
func orNull[T any](value *T, err error) (*T, error) {
	if store.HasCode(err, store.NotFound) {
		return nil, nil
	}
	return value, err
}

// deletion returns the payload of a mutation that deletes a resource: its global id, or user errors.
func deletion(kind, id string, err error) (*string, []*model.UserError, error) {
	userErrs, err := userErrors(err)
	if err != nil || len(userErrs) > 0 {
		return nil, userErrs, err
	}
	global := store.GlobalID(kind, id)
	return &global, userErrs, nil
}

// localID returns the stored id of a global or stored id; nil for nil.
func localID(id *string) *string {
	if id == nil {
		return nil
	}
	return new(store.LocalID(*id))
}

// deref returns the value, or the zero value for nil.
func deref[T any](value *T) T {
	if value == nil {
		return *new(T)
	}
	return *value
}

// valuesOf returns what a list of pointers points to. nil stays nil.
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

// userErrors returns the errors that the caller can correct, for the payload, or err if it has any other.
func userErrors(err error) ([]*model.UserError, error) {
	list := []*model.UserError{}
	if err == nil {
		return list, nil
	}
	for _, e := range store.AsErrors(err) {
		if !model.IsCorrectable(e.Code) {
			return nil, err
		}
		list = append(list, &model.UserError{Error: e})
	}
	return list, nil
}

// singleRow returns a batch of one row. A value of nil without an error would be a row of nil.
func singleRow[T, S any, P model.Row[T, S]](value S, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return model.NewBatch[T, S, P]([]S{value})[0], nil
}

// pageOfRows returns a page whose rows are one batch, unless err is an error.
func pageOfRows[T, S any, P model.Row[T, S]](slice *store.Slice[S], err error) (*model.Connection[*T], error) {
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, model.NewBatch[T, S, P](slice.Items)), nil
}

// idsOf returns the ids of all rows, each once.
func idsOf[T any](all []T, ids func(T) []string) (list []string) {
	seen := map[string]bool{}
	for _, member := range all {
		for _, id := range ids(member) {
			if !seen[id] {
				seen[id] = true
				list = append(list, id)
			}
		}
	}
	return list
}

// mapRows returns a value of each row, such as its id.
func mapRows[T, V any](all []T, value func(T) V) []V {
	values := make([]V, len(all))
	for i, row := range all {
		values[i] = value(row)
	}
	return values
}

// unique returns the ids, each once, without empty ones.
func unique(ids []string) []string { return idsOf(ids, one) }

// one returns a list of one id, or none if it is empty.
func one(id string) []string {
	if id == "" {
		return nil
	}
	return []string{id}
}

// firstItem returns the first element, or nil.
func firstItem[T any](list []*T) *T {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// valuesByID returns the values of ids, in order, without missing ones.
func valuesByID[T any](ids []string, byID map[string]T) []T {
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
		return r.store.Releases.View(ctx, release.ShopperContext{})
	}
	return op.View(ctx, r.store.Releases.View)
}

// catalog requires the scope of a coordinate and returns the view.
func (r *Resolver) catalog(ctx context.Context, coordinate string) (*release.View, error) {
	if err := auth.Require(ctx, coordinate); err != nil {
		return nil, err
	}
	return r.View(ctx)
}

// tooMany is the error for a list that is longer than most.
func tooMany(member string, n, most int) error {
	return &store.Error{Code: store.Unprocessable, Path: []string{member}, Detail: fmt.Sprintf("must have at most %d elements, got %d", most, n)}
}

// outOfBounds is the error for a number that is not between least and most.
func outOfBounds(member string, n, least, most int) error {
	return &store.Error{Code: store.Unprocessable, Path: []string{member}, Detail: fmt.Sprintf("must be between %d and %d, got %d", least, most, n)}
}
