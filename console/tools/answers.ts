import type { Answer } from '../api/contracts.ts';

export type Connection = Answer<'registry', 'GET /connections/:connectionId'>;
export type Called = Answer<'registry', 'POST /connections/:connectionId/call'>;
