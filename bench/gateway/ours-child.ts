// Auth and the gateway as one process of the suite hosts them: PGlite, limits, metering and metrics on.
// The upstream is put in over the API.
import { auth } from '../../src/auth/service.ts';
import { gateway } from '../../src/gateway/service.ts';
import { Suite } from '../../src/suite.ts';
import { findPortBase } from '../harness/free-ports.ts';
import { serveOrders } from '../harness/measured-child.ts';
import { model } from './exchange.ts';
import type { OursHello } from './doors.ts';

const many = '1000000000';
const sessions = 16;
const password = 'correct horse battery staple';

async function start(upstreamUrl: string, folder: string): Promise<OursHello> {
  const suite = await Suite.open({
    environment: {
      ENNEAD_DATA_DIR: folder,
      ENNEAD_PORT_BASE: String(await findPortBase()),
      ENNEAD_ADMIN_PASSWORD: password,
      ENNEAD_LOG_LEVEL: 'error',
      RATE_LIMIT_GATEWAY_PER_MINUTE: many,
      RATE_LIMIT_GATEWAY_BURST: many,
      AUTH_LOGIN_ATTEMPTS: many,
      AUTH_LOGIN_ATTEMPTS_PER_ACCOUNT: many,
      AUTH_LOGIN_ATTEMPTS_PER_ADDRESS: many,
    },
    hosted: [auth, gateway],
    hasConsole: false,
  });
  const tokens: string[] = [];
  for (let at = 0; at < sessions; at += 1) tokens.push(await logIn(suite.addresses.urlOf('auth')));
  const url = suite.addresses.urlOf('gateway');
  await putProvider({ url, token: tokens[0] ?? '', upstreamUrl });
  return { url, tokens };
}

async function logIn(authUrl: string): Promise<string> {
  const answer = await send('POST', `${authUrl}/api/v1/auth/login`, {
    body: { username: 'admin', password, client_id: 'bench', grant_type: 'password' },
  });
  const { access_token } = (await answer.json()) as { readonly access_token: string };
  return access_token;
}

async function putProvider(to: { url: string; token: string; upstreamUrl: string }): Promise<void> {
  await send('PUT', `${to.url}/api/v1/providers/bench`, {
    token: to.token,
    body: {
      dialect: 'openai',
      baseUrl: `${to.upstreamUrl}/v1`,
      apiKey: 'sk-bench-0123456789',
      models: [
        {
          name: model,
          capabilities: ['chat'],
          inputCostPerMToken: 1.25,
          outputCostPerMToken: 10,
          quality: 0.9,
          contextWindow: 128_000,
        },
      ],
    },
  });
}

async function send(
  method: string,
  url: string,
  { token, body }: { readonly token?: string; readonly body: object },
): Promise<Response> {
  const answer = await fetch(url, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    body: JSON.stringify(body),
  });
  if (answer.ok) return answer;
  throw new Error(`${method} ${url} answered ${answer.status}: ${await answer.text()}`);
}

const [upstreamUrl = '', folder = ''] = process.argv.slice(2);
serveOrders(await start(upstreamUrl, folder), () => {});
