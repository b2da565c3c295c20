-- Keys follow one another: the newest whose signs_from has passed signs, and each is published until
-- published_until, so that replicas agree without talking. No row has an end while it is the newest.
alter table mesh.attestation_keys drop constraint attestation_keys_slot_check;
alter table mesh.attestation_keys rename column slot to generation;
alter table mesh.attestation_keys alter column generation drop default;
alter table mesh.attestation_keys
  alter column generation type integer,
  add column signs_from timestamptz,
  add column published_until timestamptz;
update mesh.attestation_keys set signs_from = created_at;
alter table mesh.attestation_keys
  alter column signs_from set not null,
  drop column created_at;
