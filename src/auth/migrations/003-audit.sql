-- The audit log as one chain: hash = SHA-256(previous hash, seq, digest of the event). Numbers come
-- from the head and have no holes, so that what is missing shows. Events from before this migration
-- keep their numbers and have no hash.
alter table auth.audit alter column seq drop default;
drop sequence auth.audit_seq_seq;
alter table auth.audit add column hash bytea;

-- One row; its lock puts the writers of all replicas in one order.
create table auth.audit_head (
  is_only boolean primary key default true check (is_only),
  -- The chain begins after this number, with a previous hash of 32 zero bytes.
  start_seq bigint not null,
  seq bigint not null,
  hash bytea not null
);
insert into auth.audit_head (start_seq, seq, hash)
select coalesce(max(seq), 0), coalesce(max(seq), 0), decode(repeat('00', 32), 'hex') from auth.audit;

-- Heads signed with a key that the database does not hold.
create table auth.audit_checkpoints (
  seq bigint primary key,
  hash bytea not null,
  signature text not null,
  created_at timestamptz not null default now()
);

-- Appends events in the order given and answers the number of the last.
create function auth.append_audit(
  types text[], subjects text[], times timestamptz[], addresses text[],
  agents text[], clients text[], facts text[], digests bytea[]
) returns bigint language plpgsql as $$
declare
  first_seq bigint;
  last_seq bigint;
  last_hash bytea;
  hashes bytea[] := '{}';
begin
  select seq, hash into strict last_seq, last_hash from auth.audit_head for update;
  first_seq := last_seq + 1;
  for place in 1 .. cardinality(digests) loop
    last_seq := last_seq + 1;
    last_hash := sha256(last_hash || int8send(last_seq) || digests[place]);
    hashes := hashes || last_hash;
  end loop;
  insert into auth.audit
    (seq, event_type, user_id, occurred_at, ip, user_agent, client_id, metadata, hash)
  select first_seq + place - 1, type, subject, at, address, agent, client, fact::jsonb, link
  from unnest(types, subjects, times, addresses, agents, clients, facts, hashes)
    with ordinality as event (type, subject, at, address, agent, client, fact, link, place);
  update auth.audit_head set seq = last_seq, hash = last_hash;
  return last_seq;
end
$$;

-- Events of a transaction wait here for its end, so that the head is the last lock that it takes:
-- whoever locked the head first and something else then could wait for another in a circle.
create table auth.audit_pending (
  id bigserial primary key,
  event_type text not null,
  user_id text not null,
  occurred_at timestamptz not null,
  ip text not null,
  user_agent text not null,
  client_id text not null,
  metadata text not null,
  digest bytea not null
);

create function auth.append_pending_audit() returns trigger language plpgsql as $$
begin
  perform auth.append_audit(
    array[new.event_type], array[new.user_id], array[new.occurred_at], array[new.ip],
    array[new.user_agent], array[new.client_id], array[new.metadata], array[new.digest]
  );
  delete from auth.audit_pending where id = new.id;
  return null;
end
$$;

create constraint trigger append_pending_audit after insert on auth.audit_pending
deferrable initially deferred for each row execute function auth.append_pending_audit();
