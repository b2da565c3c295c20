import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { fromWeb, serve, type TestServer } from '../links/testing.ts';

interface Code {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly clientId: string;
}

/** An MCP server that requires authorization, with its authorization server at the same address. */
export interface GuardedServer extends TestServer {
  /** Ends all access tokens at once, as their time would. */
  expire(): void;
  /** Refresh tokens work no more. */
  forgetLogins(): void;
  /** From now on it says with 200 what it refuses to refresh, as GitHub does. */
  refuseAsGitHub(): void;
  /** It knows none of its clients any longer. */
  forgetClients(): void;
  /** Whether its tokens are to be had, or 503 is. */
  isIssuing: boolean;
  /** What comes to pass while the next tokens are being issued. */
  onIssuing(happens: () => void): void;
  /** From now on its metadata says nothing of PKCE. */
  hidePkce(): void;
  /** From now on it knows no clients but those that it knows already. */
  closeRegistration(): void;
  /** Whoever registers is answered so. */
  refuseRegistration(refusal: unknown): void;
  /** From now on its metadata is for this address. */
  claimResource(resource: string): void;
  readonly refreshCount: number;
  readonly registrations: readonly unknown[];
}

/** Listens on a free port; codes need their PKCE verifier (S256), refresh tokens work once. */
export async function serveGuarded(secondsOfTokens = 3600): Promise<GuardedServer> {
  const site = new Site(secondsOfTokens);
  const server = await serve((request, response) => {
    site.answer(request, response).catch(() => response.destroy());
  });
  site.origin = `http://127.0.0.1:${server.port}`;
  return {
    ...server,
    expire: () => site.access.clear(),
    forgetLogins: () => site.refresh.clear(),
    refuseAsGitHub: () => {
      site.noGrant = [200, { error: 'bad_refresh_token' }];
    },
    forgetClients: () => site.clients.clear(),
    onIssuing: (happens) => {
      site.happens = happens;
    },
    hidePkce: () => {
      site.isPkceTold = false;
    },
    closeRegistration: () => {
      site.isRegistering = false;
    },
    refuseRegistration: (refusal) => {
      site.refusal = refusal;
    },
    claimResource: (resource) => {
      site.resource = resource;
    },
    get refreshCount() {
      return site.refreshCount;
    },
    registrations: site.registrations,
    get isIssuing() {
      return site.isIssuing;
    },
    set isIssuing(isIssuing) {
      site.isIssuing = isIssuing;
    },
  };
}

class Site {
  origin = '';
  refreshCount = 0;
  isPkceTold = true;
  isIssuing = true;
  noGrant: [status: number, body: unknown] = [400, { error: 'invalid_grant' }];
  isRegistering = true;
  refusal: unknown;
  resource: string | undefined;
  happens: () => void = () => {};
  readonly access = new Set<string>();
  readonly refresh = new Set<string>();
  readonly registrations: unknown[] = [];
  readonly clients = new Set<string>();
  readonly #codes = new Map<string, Code>();
  readonly #seconds: number;
  readonly #mcp = fromWeb((request) => handler.fetch(request));

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin);
    if (url.pathname === '/mcp') return this.#guard(request, response);
    if (url.pathname === '/authorize') return this.#login(url, response);
    if (url.pathname === '/token') return this.#token(request, response);
    if (url.pathname === '/register') return this.#register(request, response);
    const document = this.#documents()[url.pathname];
    send(response, document ? 200 : 404, document ?? {});
  }

  #guard(request: IncomingMessage, response: ServerResponse): void {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    if (this.access.has(token)) return this.#mcp(request, response);
    const metadata = `${this.origin}/.well-known/oauth-protected-resource/mcp`;
    const challenge = `Bearer resource_metadata="${metadata}", scope="tools"`;
    response.setHeader('www-authenticate', challenge);
    send(response, 401, {});
  }

  #documents(): Record<string, unknown> {
    const { origin } = this;
    return {
      '/.well-known/oauth-protected-resource/mcp': {
        resource: this.resource ?? `${origin}/mcp`,
        authorization_servers: [origin],
      },
      '/.well-known/oauth-authorization-server': {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        ...(this.isRegistering ? { registration_endpoint: `${origin}/register` } : {}),
        response_types_supported: ['code'],
        ...(this.isPkceTold ? { code_challenge_methods_supported: ['S256'] } : {}),
        authorization_response_iss_parameter_supported: true,
      },
    };
  }

  #login(url: URL, response: ServerResponse): void {
    const asked = (name: string) => url.searchParams.get(name) ?? '';
    const code = randomBytes(8).toString('hex');
    this.#codes.set(code, {
      challenge: asked('code_challenge'),
      redirectUri: asked('redirect_uri'),
      clientId: asked('client_id'),
    });
    const back = new URL(asked('redirect_uri'));
    back.searchParams.set('code', code);
    back.searchParams.set('state', asked('state'));
    back.searchParams.set('iss', this.origin);
    response.writeHead(302, { location: back.href }).end();
  }

  async #register(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.refusal) return send(response, 400, this.refusal);
    const metadata: unknown = JSON.parse(await text(request));
    this.registrations.push(metadata);
    const client = `client-${this.registrations.length}`;
    this.clients.add(client);
    const { token_endpoint_auth_method: method } = Object(metadata);
    const secret = method === 'none' ? {} : { client_secret: 'secret' };
    send(response, 201, { ...Object(metadata), ...secret, client_id: client });
  }

  async #token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    if (!this.isIssuing) return send(response, 503, {});
    const confidential = /^client-\d+(?=:secret$)/.exec(atob(basic(request)))?.[0];
    const client = form.get('client_id') ?? confidential;
    if (client !== undefined && !this.clients.has(client)) {
      return send(response, 401, { error: 'invalid_client' });
    }
    const isRobot = atob(basic(request)) === 'robot:secret';
    const isGranted =
      form.get('grant_type') === 'refresh_token'
        ? this.#isRefreshed(form)
        : form.get('grant_type') === 'client_credentials'
          ? isRobot || confidential !== undefined
          : this.#isCodeGood(form);
    if (!isGranted) return send(response, ...this.noGrant);
    this.happens();
    const [access, refresh] = [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')];
    this.access.add(access);
    this.refresh.add(refresh);
    send(response, 200, {
      access_token: access,
      token_type: 'Bearer',
      expires_in: this.#seconds,
      ...(form.get('grant_type') === 'client_credentials' ? {} : { refresh_token: refresh }),
    });
  }

  #isRefreshed(form: URLSearchParams): boolean {
    this.refreshCount += 1;
    return this.refresh.delete(form.get('refresh_token') ?? '');
  }

  #isCodeGood(form: URLSearchParams): boolean {
    const code = this.#codes.get(form.get('code') ?? '');
    this.#codes.delete(form.get('code') ?? '');
    const verifier = form.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const isSameClient = code?.clientId === form.get('client_id');
    return code?.challenge === challenge && isSameClient;
  }
}

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'guarded', version: '1' });
  server.registerTool('greet', { description: 'Greets' }, () => ({
    content: [{ type: 'text', text: 'welcome' }],
  }));
  return server;
});

function basic(request: IncomingMessage): string {
  return /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
