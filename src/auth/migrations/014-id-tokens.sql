-- Whether the login began with a nonce of the caller, which its id_token then repeats (OpenID Connect
-- Core, section 2); a nonce made here is the provider's business alone.
alter table auth.oauth_flows add column nonce_given boolean not null default false;
