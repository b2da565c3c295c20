-- A revocation that begins at revoked_at, and not when it is read.
alter table auth.revocations add column planned boolean not null default false;
