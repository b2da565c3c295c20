create table notes.notes (
  id text primary key,
  owner_id text not null,
  text text not null,
  created_at timestamptz not null
);
create index notes_owner on notes.notes (owner_id, created_at desc);
