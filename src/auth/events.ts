/** Every kind of audit event, named once. */
export type AuditEventType =
  | 'login_success'
  | 'login_failure'
  | 'api_key_login_success'
  | 'api_key_login_failure'
  | 'token_refreshed'
  | 'refresh_refused'
  | 'refresh_token_reused'
  | 'token_revoked'
  | 'token_revocation_refused'
  | 'user_created'
  | 'user_updated'
  | 'user_deleted'
  | 'api_key_created'
  | 'api_key_rotated'
  | 'api_key_revoked';
