-- The secrets that a key had before and that are still good, the newest first, each with its own end.
alter table auth.api_keys
  add column former_secrets jsonb not null default '[]';

update auth.api_keys
set former_secrets = jsonb_build_array(jsonb_build_object(
  'hash', encode(previous_hash, 'hex'),
  'expiresAt', to_char(previous_expires_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
where previous_hash is not null and previous_expires_at is not null;

alter table auth.api_keys
  drop column previous_hash,
  drop column previous_expires_at;
