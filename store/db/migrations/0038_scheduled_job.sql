-- When a job that is scheduled starts, in microseconds; 0 for one that starts at once.
ALTER TABLE job ADD COLUMN run_at BIGINT NOT NULL DEFAULT 0;
