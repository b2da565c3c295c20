-- The proof of a key that another has replaced does not bring it back.
alter table mesh.key_proofs add column agent_id text;
alter table mesh.key_proofs add column public_key text;
alter table mesh.key_proofs add column is_replaced boolean not null default false;

create index key_proofs_agent on mesh.key_proofs (agent_id) where not is_replaced;
