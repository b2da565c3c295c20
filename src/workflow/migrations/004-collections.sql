-- Collections of texts that are found by meaning. Every change of a collection takes its next
-- revision, so that replicas read only what changed since they last looked.
create table workflow.collections (
  id text primary key,
  name text not null unique,
  description text not null,
  -- The embedding model that was asked for; null: the one that comes with the product.
  wanted_model text,
  -- The model that made the vectors and their length; null until the first document.
  model text,
  dimensions integer,
  revision bigint not null default 0,
  -- Marks of documents that were deleted up to this revision are gone.
  purged_revision bigint not null default 0,
  owner_id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- A deleted document stays as a mark for a while, without content and chunks.
create table workflow.collection_documents (
  collection_id text not null references workflow.collections on delete cascade,
  id text collate "C" not null,
  content text,
  metadata jsonb,
  chunk_count integer not null,
  revision bigint not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (collection_id, id)
);
create index collection_documents_revision
  on workflow.collection_documents (collection_id, revision);

-- Vectors of length 1 as 32-bit floats, little-endian. The content is null where the chunk is the
-- whole document.
create table workflow.collection_chunks (
  collection_id text not null,
  document_id text collate "C" not null,
  ordinal integer not null,
  content text,
  vector bytea not null,
  primary key (collection_id, document_id, ordinal),
  foreign key (collection_id, document_id)
    references workflow.collection_documents on delete cascade
);
alter table workflow.collection_chunks alter column vector set storage external;
