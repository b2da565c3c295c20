-- What logins that come together have to know before their passwords are looked at: who each may be,
-- and whether it may be tried. `keys` are three buckets of each login, of the account over all
-- addresses that are new to it, of the address, and of both together; `spacings` and `attempts` say it
-- of the three kinds. Answers a row for each login, in the order given.
create function auth.begin_logins(
  sought text[], places text[], known_since timestamptz,
  keys text[], spacings float8[], attempts float8[]
) returns table (
  user_id text, user_email text, user_name text, user_roles text[], user_groups text[],
  is_disabled boolean, hashed text, seen_at timestamptz, factor_at timestamptz,
  granted float8[], remaining float8[], full_in float8[], wait float8[]
) language plpgsql as $$
#variable_conflict use_column
begin
  return query with login as materialized (
    select asked.number, u.id, u.email, u.name, u.roles, u.groups, u.disabled, u.password_hash,
      known.last_seen_at, factor.enabled_at
    from unnest(sought, places) with ordinality as asked (name, place, number)
    left join auth.users u on u.username_key = asked.name
    left join auth.known_addresses known on known.user_id = u.id
      and known.address_key = asked.place and known.last_seen_at >= known_since
    left join auth.second_factors factor on factor.user_id = u.id
  ), ask as materialized (
    select row_number() over (order by login.number, kind) as place, login.number, kind,
      keys[3 * (login.number - 1) + kind] as key
    from login cross join generate_series(1, 3) as kind
    -- What happens elsewhere does not count where the account is at home.
    where kind > 1 or login.last_seen_at is null
  ), bucket as materialized (
    -- Everybody locks them in this order.
    select array_agg(distinct key collate "C" order by key collate "C") as keys from ask
  ), asked as materialized (
    select array_agg(ask.number::integer order by place) as numbers,
      array_agg(array_position(bucket.keys, ask.key) order by place) as slots,
      array_agg(spacings[kind] order by place) as spacings,
      array_agg(attempts[kind] order by place) as attempts,
      array_agg(0::float8) as zeros, array_agg(1::float8) as ones
    from ask cross join bucket
  ), given as (
    select ask.number, array_agg(t.granted order by kind) as granted,
      array_agg(t.remaining order by kind) as remaining,
      array_agg(t.full_in order by kind) as full_in, array_agg(t.wait order by kind) as wait
    from bucket cross join asked
    cross join auth.take_allowances(
      bucket.keys, asked.numbers, asked.slots, asked.spacings, asked.attempts,
      asked.zeros, asked.ones, asked.zeros
    ) with ordinality as t (granted, remaining, full_in, wait, place)
    join ask using (place)
    group by ask.number
  )
  select login.id, login.email, login.name, login.roles, login.groups, login.disabled,
    login.password_hash, login.last_seen_at, login.enabled_at,
    given.granted, given.remaining, given.full_in, given.wait
  from login join given using (number)
  order by number;
end
$$;

drop function auth.begin_login(text, text, timestamptz, text[], float8[], float8[]);

-- Opens sessions that begin together, each with its first refresh token, notes the logins and appends
-- their events. Answers the number of each event, in the order given; null, and nothing happened,
-- where the user is gone or disabled by now, or no longer has the password that the login was checked
-- with.
create function auth.open_sessions(
  session_ids text[], holders text[], hashes text[], clients text[],
  opened_at timestamptz[], ends_at timestamptz[], token_hashes bytea[],
  types text[], subjects text[], times timestamptz[], addresses text[], agents text[],
  event_clients text[], facts text[], digests bytea[]
) returns table (seq bigint) language plpgsql as $$
declare
  welcome integer[];
  last_seq bigint;
begin
  -- Users are locked in one order and the head of the chain last, so that nobody waits in a circle.
  perform 1 from auth.users where id = any(holders) order by id for no key update;
  select array_agg(asked.place order by asked.place) into welcome
  from unnest(holders, hashes) with ordinality as asked (holder, hashed, place)
  join auth.users u on u.id = asked.holder
  where not u.disabled and u.password_hash is not distinct from asked.hashed;
  if welcome is not null then
    update auth.users u set last_login_at = latest.at
    from (
      select holders[place] as holder, max(opened_at[place]) as at
      from unnest(welcome) as place group by 1
    ) as latest
    where u.id = latest.holder;
    insert into auth.sessions
      (id, user_id, client_id, created_at, expires_at, generation, token_hash, token_issued_at)
    select session_ids[place], holders[place], clients[place], opened_at[place], ends_at[place],
      0, token_hashes[place], opened_at[place]
    from unnest(welcome) as place;
    select auth.append_audit(
      array_agg(types[place]), array_agg(subjects[place]), array_agg(times[place]),
      array_agg(addresses[place]), array_agg(agents[place]), array_agg(event_clients[place]),
      array_agg(facts[place]), array_agg(digests[place])
    ) into last_seq
    from (select place from unnest(welcome) as place order by place) as sorted;
  end if;
  return query
    select last_seq - cardinality(welcome) + array_position(welcome, place)
    from generate_series(1, cardinality(session_ids)) as place
    order by place;
end
$$;

drop function auth.open_session(
  text, text, text, text, timestamptz, timestamptz, bytea,
  text, text, timestamptz, text, text, text, text, bytea
);
