-- The automatic promotions that apply to carts, those that end first.
CREATE INDEX promotion_automatic ON promotion (end_at, id) WHERE automatic AND enabled;
