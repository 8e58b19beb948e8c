-- The authored prices of a price book, listed by id.
CREATE INDEX price_of_pricebook ON price (pricebook_id, id);
