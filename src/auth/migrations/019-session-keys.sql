-- The signing key under which a session's good refresh token was made: when that is revoked, the session
-- has ended. Unknown of sessions that have not refreshed since before there was this column.
alter table auth.sessions add column token_kid text;

drop function auth.open_sessions(
  text[], text[], text[], text[], timestamptz[], timestamptz[], bytea[],
  text[], text[], timestamptz[], text[], text[], text[], text[], bytea[]
);

-- Opens sessions that begin together, each with its first refresh token, notes the logins and appends
-- their events. Answers the number of each event and what the user's tokens say, in the order given;
-- no number, and nothing happened, where the user is gone or disabled by now, or no longer has the
-- password that the login was checked with.
create function auth.open_sessions(
  session_ids text[], holders text[], hashes text[], clients text[],
  opened_at timestamptz[], ends_at timestamptz[], token_hashes bytea[], token_kids text[],
  types text[], subjects text[], times timestamptz[], addresses text[], agents text[],
  event_clients text[], facts text[], digests bytea[]
) returns table (
  seq bigint, user_email text, user_name text, user_roles text[], user_groups text[], epoch integer
)
language plpgsql as $$
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
      (id, user_id, client_id, created_at, expires_at, generation, token_hash, token_kid,
        token_issued_at)
    select session_ids[place], holders[place], clients[place], opened_at[place], ends_at[place],
      0, token_hashes[place], token_kids[place], opened_at[place]
    from unnest(welcome) as place;
    select auth.append_audit(
      array_agg(types[place]), array_agg(subjects[place]), array_agg(times[place]),
      array_agg(addresses[place]), array_agg(agents[place]), array_agg(event_clients[place]),
      array_agg(facts[place]), array_agg(digests[place])
    ) into last_seq
    from (select place from unnest(welcome) as place order by place) as sorted;
  end if;
  return query
    select last_seq - cardinality(welcome) + array_position(welcome, place),
      u.email, u.name, u.roles, u.groups, u.token_epoch
    from generate_series(1, cardinality(session_ids)) as place
    left join auth.users u on u.id = holders[place]
    order by place;
end
$$;
