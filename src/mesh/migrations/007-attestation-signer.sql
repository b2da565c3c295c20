-- The key of the mesh that signed an attestation: once it is withdrawn, the attestation holds no more.
alter table mesh.attestations add column kid text;
update mesh.attestations a set kid = coalesce((
  select k.kid from mesh.attestation_keys k where k.signs_from <= a.verified_at
  order by k.generation desc limit 1), '');
alter table mesh.attestations alter column kid set not null;
