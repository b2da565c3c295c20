import type { IncomingHttpHeaders } from 'node:http';

/** The access token with which somebody asks for an execution; nothing where it came otherwise. */
export function callerTokenOf({ authorization }: IncomingHttpHeaders): { callerToken?: string } {
  const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  return token === undefined ? {} : { callerToken: token };
}
