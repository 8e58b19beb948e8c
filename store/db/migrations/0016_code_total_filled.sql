UPDATE promotion SET codes = (
    SELECT COUNT(*) FROM promotion_code WHERE promotion_code.promotion_number = promotion.number AND promotion_code.epoch = promotion.epoch);
