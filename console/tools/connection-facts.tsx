import type { ReactNode } from 'react';
import { Facts, type Fact } from '../ui/facts.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { formatAge, formatCount, formatDuration, formatShare } from '../ui/text.ts';
import type { Connection } from './answers.ts';
import { commandLine } from './command-line.ts';

/** What a connection is, and how its calls went. */
export function ConnectionFacts({ connection }: { readonly connection: Connection }): ReactNode {
  return (
    <>
      <section className="card stack">
        <h2>Server</h2>
        <ServerFacts connection={connection} />
      </section>
      <section className="card stack">
        <h2>Calls</h2>
        <CallFacts metrics={connection.metrics} />
      </section>
    </>
  );
}

function ServerFacts({ connection }: { readonly connection: Connection }): ReactNode {
  const { id, server, offers, metadata, createdAt, ownerId } = connection;
  return (
    <>
      <Facts
        facts={[
          ['Says it is', server && `${server.title ?? server.name} ${server.version}`],
          ['Speaks', server && `MCP ${server.protocolVersion}, ${server.era}`],
          ...endpointFacts(connection),
          ['Offers', offers && offersIn(offers)],
          ['Registered', `${formatAge(createdAt)} by ${ownerId}`],
          ['Id', <code key="id">{id}</code>],
        ]}
      />
      {server?.instructions ? <More title="Its instructions" value={server.instructions} /> : null}
      {Object.keys(metadata).length > 0 ? <More title="Metadata" value={metadata} /> : null}
    </>
  );
}

function endpointFacts({ type, protocol, endpoint = {} }: Connection): readonly Fact[] {
  const { command, url, env = {}, headers = {} } = endpoint;
  return [
    ['Reached by', type === 'client' ? `${protocol}, a client` : protocol],
    ['Command', command && <code key="command">{commandLine(endpoint)}</code>],
    ['Variables', Object.keys(env).join(', ')],
    ['Address', url && <code key="url">{url}</code>],
    ['Headers', Object.keys(headers).join(', ')],
  ];
}

function More({ title, value }: { readonly title: string; readonly value: unknown }): ReactNode {
  return (
    <details>
      <summary>{title}</summary>
      <JsonView value={value} />
    </details>
  );
}

function offersIn(offers: NonNullable<Connection['offers']>): string {
  const { tools, prompts, resources, resourceTemplates, flaws = [] } = offers;
  const counts = `${tools} tools, ${prompts} prompts, ${resources} resources, ${resourceTemplates} templates`;
  const missing = flaws.map(({ list, reason, count }) => `${list}: ${reason} ${count ?? ''}`);
  return [counts, ...missing].join('; ');
}

function CallFacts({ metrics }: Pick<Connection, 'metrics'>): ReactNode {
  const { totalRequests, requestsPerMinute, activeConnections } = metrics;
  const isUsed = totalRequests > 0;
  return (
    <Facts
      facts={[
        ['Ever', formatCount(totalRequests)],
        ['In the last minute', formatCount(requestsPerMinute)],
        ['Running', activeConnections],
        ['Latency', isUsed && `${formatDuration(metrics.averageLatency)} on average`],
        ['95 % within', isUsed && formatDuration(metrics.p95Latency)],
        ['Went well', isUsed && formatShare(metrics.successRate)],
        ['Failed', isUsed && formatShare(metrics.errorRate)],
      ]}
    />
  );
}
