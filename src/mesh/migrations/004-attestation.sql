-- The one key that the mesh signs attestations and status lists with, on every replica.
create table mesh.attestation_keys (
  slot smallint primary key default 1 check (slot = 1),
  kid text not null,
  public_jwk jsonb not null,
  -- PKCS #8, sealed under a key file outside the database.
  private_key text not null,
  created_at timestamptz not null
);

-- Every commitment that was ever accepted: k of two proofs with one commitment gives the key away,
-- and a proof that is sent twice has the same one.
create table mesh.commitments (
  commitment bytea primary key
);

create table mesh.attestations (
  id text primary key,
  -- The attestation's place in the status lists.
  status_index bigint generated always as identity unique,
  agent_id text not null,
  capability text not null,
  -- Of the agent when it proved its capability: with another key it has proved nothing.
  public_key text not null,
  owner_id text not null,
  verified_at timestamptz not null,
  valid_until timestamptz not null,
  -- Never undone.
  revoked_at timestamptz,
  reason text,
  -- When the row was written last, by the clock of who wrote it.
  changed_at timestamptz not null
);
create index attestations_agent on mesh.attestations (agent_id);
create index attestations_changed on mesh.attestations (changed_at);
create index attestations_valid on mesh.attestations (valid_until);
create index attestations_revoked on mesh.attestations (status_index) where revoked_at is not null;

-- Challenges that wait for their answer: one attempt each, taken out before it is checked.
create table mesh.challenges (
  id text primary key,
  agent_id text not null,
  capability text not null,
  public_key text not null,
  commitment text not null,
  challenge text not null,
  expires_at timestamptz not null
);
create index challenges_expire on mesh.challenges (expires_at);
