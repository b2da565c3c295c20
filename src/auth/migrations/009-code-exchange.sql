-- Whether the login began with a redirect_uri of the caller, who has to repeat it then (RFC 6749,
-- section 4.1.3), and how many codes were tried in the flow.
alter table auth.oauth_flows add column redirect_uri_given boolean not null default false;
alter table auth.oauth_flows add column attempts integer not null default 0;
