import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import files from '@fastify/static';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import { authContract } from '../auth/contract.ts';
import { createClient } from '../kit/client.ts';
import { Fault } from '../kit/errors.ts';
import { listenFault } from '../kit/http/app.ts';
import type { ServiceToken } from '../kit/identity/service-token.ts';
import { Tracer } from '../kit/trace/trace.ts';
import type { ServiceState } from './contract.ts';
import { serveProxy } from './proxy.ts';
import { serveProviderLogins } from './provider-logins.ts';
import { serveSession, type SessionParts } from './session.ts';

export interface ConsoleOptions {
  /** The nine and where they are. */
  readonly services: readonly { readonly name: string; readonly url: string }[];
  readonly checkHealth: () => Promise<readonly ServiceState[]>;
  /** The console's own identity at auth. */
  readonly ownToken: Pick<ServiceToken, 'get' | 'forget'>;
  /** The built pages; where the build puts them unless told. */
  readonly pagesFolder?: string;
}

const contentSecurityPolicy = [
  "default-src 'self'",
  "img-src 'self' data:",
  // The canvas of the workflow editor places its nodes by style.
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The web console: its pages, the session of a browser, and every service below its own origin, so that a
 * browser needs one address only.
 */
export class Console implements AsyncDisposable {
  readonly #app: FastifyInstance;

  private constructor(app: FastifyInstance) {
    this.#app = app;
  }

  /** Makes it, without listening. */
  static async open(options: ConsoleOptions): Promise<Console> {
    const { services, checkHealth, ownToken, pagesFolder = findPages() } = options;
    const app = Fastify({ logger: false, forceCloseConnections: true });
    app.setErrorHandler((error: FastifyError, _request, reply) => refuse(reply, error));
    app.get('/health', async () => ({ status: 'healthy' }));
    app.get('/status.json', async () => ({ services: await checkHealth() }));
    const tracer = new Tracer(() => {});
    const baseUrl = services.find(({ name }) => name === authContract.name)?.url ?? '';
    const session: SessionParts = {
      ownToken,
      authAs: (credential) =>
        createClient(authContract, {
          baseUrl,
          tracer,
          ...(credential === undefined ? {} : { token: async () => credential }),
        }),
    };
    serveSession(app, session);
    serveProviderLogins(app, session);
    await app.register((scope) => serveProxy(scope, services));
    await servePages(app, pagesFolder);
    return new Console(app);
  }

  /** Listens; throws one clear sentence when the port is taken. Port 0 is any free one; answers the address. */
  async listen(host: string, port: number): Promise<string> {
    try {
      return await this.#app.listen({ host, port });
    } catch (cause) {
      throw listenFault(cause, { service: 'console', host, port });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app.close();
  }
}

/** Beside this file once built; in the build's folder where the source is run. */
function findPages(): string | undefined {
  const places = ['./pages', '../../dist/console/pages'];
  return places
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((folder) => existsSync(folder));
}

/** Every path that names no file is a page, and the program in the browser finds out which. */
async function servePages(app: FastifyInstance, folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  await app.register(files, {
    root: folder,
    cacheControl: false,
    preCompressed: true,
    setHeaders: (reply, path) => {
      // The names of built files hold their content's hash.
      const isLasting = /[\\/]assets[\\/]/.test(path);
      reply.setHeader(
        'cache-control',
        isLasting ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
      reply.setHeader('vary', 'accept-encoding');
      reply.setHeader('content-security-policy', contentSecurityPolicy);
      reply.setHeader('x-content-type-options', 'nosniff');
      reply.setHeader('referrer-policy', 'no-referrer');
    },
  });
  app.setNotFoundHandler((request, reply) => {
    const isPage =
      request.method === 'GET' && !/^\/(?:assets|services|session)\b/.test(request.url);
    if (isPage) return reply.sendFile('index.html');
    return refuse(reply, new Fault('not_found', 'there is nothing at this address'));
  });
}

/** Refusals as most of the services write them. */
function refuse(reply: FastifyReply, error: Error & { readonly statusCode?: number }) {
  const fault = toFault(error);
  if (fault.retryAfter !== undefined) reply.header('retry-after', String(fault.retryAfter));
  const { code, message, reason = code } = fault;
  return reply.code(fault.status).send({ success: false, error: { code: reason, message } });
}

function toFault(error: Error & { readonly statusCode?: number }): Fault {
  const { statusCode, message } = error;
  if (error instanceof Fault || statusCode === undefined) return Fault.from(error);
  return new Fault(Fault.codeOf(statusCode), message, { cause: error });
}
