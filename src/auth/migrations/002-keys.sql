-- A key whose private half may be known to others leaves the key set at once and never comes back.
alter table auth.signing_keys drop constraint signing_keys_state_check;
alter table auth.signing_keys add constraint signing_keys_state_check
  check (state in ('pending', 'active', 'previous', 'retired', 'revoked'));

-- The next key waits in the key set, so that verifiers know it before it signs.
create unique index signing_keys_pending on auth.signing_keys (state) where state = 'pending';
