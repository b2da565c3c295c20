-- `suite` owns the identities of the suite's own services, so it is nobody's name: keys for a service
-- of that name end, with their tokens.
with ended as (
  update auth.api_keys set revoked_at = now()
  where kind = 'service' and service = 'suite' and revoked_at is null
  returning id
)
insert into auth.revocations (kind, id, revoked_at, expires_at)
select 'subject', 'suite', at, at + 3660
from (select extract(epoch from now())::bigint as at) as present
where exists (select from ended);
