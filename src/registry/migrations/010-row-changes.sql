-- The revision that the last change of more than the state came after: a replica whose row is not
-- younger lacks that change, however new the state is that it has.
alter table registry.connections add column row_after bigint not null default 0;
