-- Whether a sync that was believed has linked it or found it linked. What is pushed to a system whose
-- listing is doubted does not count when that listing is judged the next time.
alter table registry.cms_links add column is_believed boolean not null default false;
update registry.cms_links set is_believed = true;
