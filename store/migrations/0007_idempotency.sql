UPDATE store_meta SET value = '7' WHERE name = 'min_binary';
