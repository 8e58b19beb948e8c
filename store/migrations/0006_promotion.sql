UPDATE store_meta SET value = '6' WHERE name = 'min_binary';
