import type { Answer } from '../api/contracts.ts';

export type User = Answer<'auth', 'GET /api/v1/auth/users/:id'>;
export type ApiKey = Answer<'auth', 'GET /api/v1/auth/api-keys/:id'>;
export type Session = Answer<'auth', 'GET /api/v1/auth/sessions'>['sessions'][number];
export type SigningKey = Answer<'auth', 'GET /api/v1/auth/keys'>['keys'][number];
export type Provider = Answer<'auth', 'GET /api/v1/auth/oauth/providers'>['providers'][number];
export type Mapping = Answer<'auth', 'GET /api/v1/auth/group-mappings'>['mappings'][number];
export type AuditEvent = Answer<'auth', 'GET /api/v1/auth/audit'>['events'][number];
