import { decodeJwt } from 'jose';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../kit/errors.ts';
import { readCredential } from '../kit/http/credential.ts';
import { endedSessionCookie, sessionCookie } from '../kit/http/session-cookie.ts';

/*
 * The session of a browser as two cookies that no script reads: the access token, which the console puts
 * before every call, and the refresh token, which comes back to the session's path only.
 */

/** Where a browser logs in, stays logged in and logs out. */
export const sessionPath = '/session';

/** A pair of tokens as auth answers it. */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}

export function keepSession(reply: FastifyReply, tokens: Tokens, isSecure: boolean): void {
  reply.header('set-cookie', [
    sessionCookie(tokens.access_token, { maxAgeSeconds: tokens.expires_in, isSecure }),
    refreshCookie(tokens.refresh_token, secondsLeft(tokens.refresh_token), isSecure),
  ]);
}

export function forgetSession(reply: FastifyReply, isSecure: boolean): void {
  reply.header('set-cookie', [endedSessionCookie(isSecure), refreshCookie('', 0, isSecure)]);
}

/** Throws `unauthenticated` where there is none. */
export function accessTokenOf({ raw }: FastifyRequest): string {
  return readCredential(raw, { acceptsSessionCookie: true, acceptsQueryToken: false });
}

/** Throws `unauthenticated` (`session_ended`) where there is none. */
export function refreshTokenOf(call: FastifyRequest): string {
  const token = peekRefreshToken(call);
  if (token) return token;
  throw nobody();
}

export function peekRefreshToken({ headers }: FastifyRequest): string | undefined {
  return /(?:^|;\s*)refresh=([\w.-]+)/.exec(headers.cookie ?? '')?.[1];
}

export function nobody(cause?: unknown): Fault {
  return new Fault('unauthenticated', 'nobody is logged in', { reason: 'session_ended', cause });
}

function refreshCookie(token: string, maxAgeSeconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : '';
  return `refresh=${token}; Path=${sessionPath}; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`;
}

function secondsLeft(token: string): number {
  const { exp = 0 } = decodeJwt(token);
  return Math.max(0, Math.floor(exp - Date.now() / 1000));
}
