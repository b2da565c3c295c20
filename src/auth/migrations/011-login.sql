-- What a login with a password has to know before the password is looked at: who it may be, and
-- whether it may be tried. One call of a function costs less than its statements, for a session keeps
-- their plans. `keys` are the buckets of the account over all addresses that are new to it, of the
-- address, and of both together, in the order in which everybody locks them.
create function auth.begin_login(
  sought text, place text, known_since timestamptz,
  keys text[], spacings float8[], attempts float8[]
) returns table (
  user_id text, user_email text, user_name text, user_roles text[], user_groups text[],
  is_disabled boolean, hashed text, seen_at timestamptz, factor_at timestamptz,
  granted float8[], remaining float8[], full_in float8[], wait float8[]
) language plpgsql as $$
declare
  asks integer;
begin
  select u.id, u.email, u.name, u.roles, u.groups, u.disabled, u.password_hash,
    known.last_seen_at, factor.enabled_at
  into user_id, user_email, user_name, user_roles, user_groups, is_disabled, hashed,
    seen_at, factor_at
  from auth.users u
  left join auth.known_addresses known
    on known.user_id = u.id and known.address_key = place and known.last_seen_at >= known_since
  left join auth.second_factors factor on factor.user_id = u.id
  where u.username_key = sought;
  -- What happens elsewhere does not count where the account is at home.
  if seen_at is not null then
    keys := keys[2:];
    spacings := spacings[2:];
    attempts := attempts[2:];
  end if;
  asks := cardinality(keys);
  select array_agg(t.granted order by t.slot), array_agg(t.remaining order by t.slot),
    array_agg(t.full_in order by t.slot), array_agg(t.wait order by t.slot)
  into granted, remaining, full_in, wait
  from auth.take_allowances(
    keys, array_fill(0, array[asks]), array(select generate_series(1, asks)), spacings, attempts,
    array_fill(0::float8, array[asks]), array_fill(1::float8, array[asks]),
    array_fill(0::float8, array[asks])
  ) with ordinality as t (granted, remaining, full_in, wait, slot);
  return next;
end
$$;

-- Opens a session with its first refresh token, notes the login and appends its event, whose number
-- it answers. Null, and nothing happened, when the user is gone or disabled by now, or no longer has
-- the password that the login was checked with.
create function auth.open_session(
  session_id text, holder text, hashed text, client text,
  opened_at timestamptz, ends_at timestamptz, hash bytea,
  event_type text, subject text, happened_at timestamptz, address text, agent text,
  event_client text, facts text, digest bytea
) returns bigint language plpgsql as $$
begin
  update auth.users set last_login_at = opened_at
  where id = holder and not disabled and password_hash is not distinct from hashed;
  if not found then
    return null;
  end if;
  insert into auth.sessions
    (id, user_id, client_id, created_at, expires_at, generation, token_hash, token_issued_at)
  values (session_id, holder, client, opened_at, ends_at, 0, hash, opened_at);
  return auth.append_audit(
    array[event_type], array[subject], array[happened_at], array[address], array[agent],
    array[event_client], array[facts], array[digest]
  );
end
$$;
