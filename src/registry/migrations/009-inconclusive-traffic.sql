-- Requests that neither succeeded nor failed: the server refused them, or the caller gave up.
alter table registry.traffic add column inconclusive bigint not null default 0;
