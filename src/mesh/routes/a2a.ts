import type { Handler } from '../../kit/http/call.ts';
import { allows } from '../../kit/permissions.ts';
import { formatTraceparent } from '../../kit/trace/trace-context.ts';
import type { A2aServer } from '../a2a/a2a-server.ts';
import { meshCard } from '../a2a/mesh-card.ts';
import type { a2aRoutes as routes } from '../schemas/a2a.ts';

type A2aHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface A2aHandlerParts {
  readonly a2a: A2aServer;
  /** Where the mesh is reached, without a slash at the end. */
  readonly url: string;
  readonly version: string;
  /** What registered agents can do now. */
  readonly listCapabilities: () => readonly string[];
}

/** The edge of the A2A server. */
export function a2aHandlers(parts: A2aHandlerParts): A2aHandlers {
  const { a2a, version, listCapabilities } = parts;
  return {
    readAgentCard: () => meshCard({ url: parts.url, version, capabilities: listCapabilities() }),
    callA2a: async (call) => {
      const { body, headers, identity, span, signal } = call;
      const { subject, permissions } = identity;
      const wanted = headers['a2a-version'];
      const answer = await a2a.handle({
        body,
        version: typeof wanted === 'string' ? wanted : undefined,
        reader: { subject, isAdmin: allows(permissions, 'mesh:admin') },
        traceparent: formatTraceparent(span.spanContext()),
        signal,
      });
      return answer ?? new Response(null, { status: 202 });
    },
  };
}
