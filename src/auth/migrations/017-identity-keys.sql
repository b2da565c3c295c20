-- Whether the identity of a provider without an issuer stands under the origin alone, which several
-- providers may share. The service gives it the key of its own provider when it starts.
alter table auth.identities add column keyed_by_origin boolean not null default true;
