/** How long a browser keeps the session cookie, and whether it goes over TLS only. */
export interface CookieOptions {
  readonly maxAgeSeconds: number;
  readonly isSecure: boolean;
}

/**
 * `Set-Cookie` with a token as the session (RFC 6265, section 4.1): no script reads it, and other sites
 * send it with navigations only.
 */
export function sessionCookie(token: string, { maxAgeSeconds, isSecure }: CookieOptions): string {
  const secure = isSecure ? '; Secure' : '';
  const value = encodeURIComponent(token);
  return `session=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`;
}

/** `Set-Cookie` that ends the session of a browser. */
export function endedSessionCookie(isSecure: boolean): string {
  return sessionCookie('', { maxAgeSeconds: 0, isSecure });
}
