-- The roots that sign agents' certificates. Which one signs and which are trusted follows from the
-- times alone, so that replicas agree without talking: the highest generation whose signs_from has
-- passed signs, and all are trusted until trusted_until.
create table mesh.certificate_roots (
  generation integer primary key check (generation > 0),
  -- PEM.
  certificate text not null,
  -- PKCS #8, sealed with the key file in the data folder; empty once it is trusted no more.
  private_key text not null,
  signs_from timestamptz not null,
  trusted_until timestamptz not null
);
