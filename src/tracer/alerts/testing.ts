import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { readConfig, type Environment } from '../../kit/config.ts';
import type { Database } from '../../kit/database/database.ts';
import { createEgress } from '../../kit/egress/egress.ts';
import type { ReadJson } from '../../kit/http/testing.ts';
import { silentLog } from '../../kit/testing.ts';
import { alertSettings } from './alert-settings.ts';
import { Alerts, type AlertRequest } from './alerts.ts';
import type { AlertMetrics, MetricRange, MetricStep } from './metric-source.ts';

/** Metrics that a test sets; empty windows until it does. */
export class SetMetrics implements AlertMetrics {
  count = 0;
  errors = 0;
  /** Of every trace. */
  durationMs = 0;
  steps: MetricStep[] = [];
  traceIds: string[] = [];
  /** Thrown by whatever is asked. */
  failure: Error | undefined;
  readonly asked: MetricRange[] = [];

  window(range: MetricRange) {
    this.asked.push(range);
    if (this.failure) return Promise.reject(this.failure);
    const { count, errors, durationMs } = this;
    const quantileUs = () => durationMs * 1_000;
    return Promise.resolve({ count, errors, sumUs: count * durationMs * 1_000, quantileUs });
  }

  series(range: MetricRange) {
    this.asked.push(range);
    return this.failure ? Promise.reject(this.failure) : Promise.resolve(this.steps);
  }

  examples() {
    return this.failure ? Promise.reject(this.failure) : Promise.resolve(this.traceIds);
  }
}

/** A clock that only a test moves. */
export class SetClock {
  ms = Date.UTC(2026, 10, 21, 12, 0, 30);

  readonly now = (): number => this.ms;

  advance(ms: number): void {
    this.ms += ms;
  }
}

export interface StartAlertsOptions {
  readonly sql: Pick<Database, 'query'>;
  readonly metrics: AlertMetrics;
  readonly clock: SetClock;
  readonly dataFolder: string;
  readonly environment?: Environment;
  readonly isLoopbackAllowed?: boolean;
}

/** The alerts of one replica, without their timer. */
export function openAlerts(options: StartAlertsOptions): Alerts {
  const { sql, metrics, clock, dataFolder, environment = {}, isLoopbackAllowed = true } = options;
  return new Alerts({
    sql,
    metrics,
    dataFolder,
    now: clock.now,
    config: readConfig({ own: alertSettings }, environment).own,
    egress: createEgress({ allow: [], isLoopbackAllowed }),
    log: silentLog,
  });
}

/** An alert on more than 10 % of errors in five minutes, but for what is given. */
export function requestOf(over: Partial<AlertRequest> = {}): AlertRequest {
  return {
    name: 'checkout fails',
    condition: {
      metric: 'error_rate',
      operator: 'greaterThan',
      threshold: 0.1,
      timeWindow: '5m',
    },
    notifications: [],
    severity: 'critical',
    isEnabled: true,
    ...over,
  };
}

/** What a webhook was sent, and what it answers: the last of the answers stays. */
export interface HookServer extends AsyncDisposable {
  readonly url: string;
  readonly posts: ReadJson[];
  answers: { readonly status: number; readonly body?: string; readonly headers?: object }[];
}

export async function startHook(): Promise<HookServer> {
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    hook.posts.push(JSON.parse(await readBody(request)));
    const { answers } = hook;
    const next = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 200 };
    response.writeHead(next.status, { ...next.headers }).end(next.body ?? '');
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const hook: HookServer = {
    url: `http://127.0.0.1:${port}/services/T0/B0/very-secret`,
    posts: [],
    answers: [],
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return hook;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

export interface MailServer extends AsyncDisposable {
  readonly url: string;
  readonly mails: {
    readonly from: string;
    readonly to: readonly string[];
    readonly text: string;
  }[];
}

/** A mail server that takes everything, but for what the options refuse. */
export async function startMail(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: { from: string; to: string[]; text: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom ? mailFrom.address : '';
        const to = rcptTo.map(({ address }) => address);
        mails.push({ from, to, text: Buffer.concat(chunks).toString() });
        done();
      });
    },
    ...options,
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
      }),
  };
}
