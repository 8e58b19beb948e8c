UPDATE stock SET lines = (SELECT COUNT(*) FROM stock_transaction WHERE stock_transaction.product_id = stock.product_id);
