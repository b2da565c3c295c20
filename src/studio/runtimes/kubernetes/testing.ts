import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Thing {
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
  status?: unknown;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/**
 * A small HTTP API that records calls and answers as a cluster would, for one pod a job. It shows what
 * is asked of a cluster, not that a cluster would do it: it knows no scheduling, rights or admission.
 */
export async function startRecordedCluster() {
  const cluster = new RecordedCluster();
  const server = createServer((request, response) => void cluster.answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(cluster, {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

class RecordedCluster {
  readonly calls: Call[] = [];
  readonly things = new Map<string, Thing>();
  readonly watchers = new Set<ServerResponse>();
  readonly logs: string[] = [];

  /** Changes the pod of a job, as a node would tell it. */
  change(job: string, status: unknown): void {
    const pod = this.things.get(podOf(job));
    if (!pod) throw new Error('there is no such pod');
    pod.status = status;
    this.#tell('MODIFIED', pod);
  }

  removePod(job: string): void {
    this.#remove(podOf(job));
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://cluster.test');
    const method = request.method ?? '';
    const sent = await text(request);
    const body: unknown = sent === '' ? undefined : JSON.parse(sent);
    this.calls.push({ method, path, body });
    response.setHeader('content-type', 'application/json');
    if (searchParams.get('watch') === 'true') return this.#watch(response);
    if (path.endsWith('/log')) {
      response.end(this.logs.join(''));
      return undefined;
    }
    const given = this.#act(method, path, body);
    response.writeHead(given.status).end(JSON.stringify(given.body));
    return undefined;
  }

  #act(method: string, path: string, body: unknown) {
    if (method === 'POST') return this.#make(path, body as Thing);
    return method === 'DELETE' ? this.#remove(path) : this.#read(path);
  }

  #watch(response: ServerResponse): void {
    response.flushHeaders();
    this.watchers.add(response);
    response.on('close', () => this.watchers.delete(response));
  }

  #tell(type: string, object: unknown): void {
    for (const watcher of this.watchers) watcher.write(`${JSON.stringify({ type, object })}\n`);
  }

  #make(path: string, thing: Thing) {
    const { labels, name } = thing.metadata;
    if (this.things.has(`${path}/${name}`)) return refuse(409, 'AlreadyExists');
    const made = { ...thing, metadata: { ...thing.metadata, uid: `uid-of-${name}` } };
    this.things.set(`${path}/${name}`, made);
    if (path.endsWith('/jobs')) {
      const metadata = { name: `${name}-pod`, ...(labels === undefined ? {} : { labels }) };
      this.things.set(podOf(name), { metadata, status: { phase: 'Pending' } });
    }
    return { status: 201, body: made };
  }

  #remove(path: string) {
    const thing = this.things.get(path);
    if (!thing) return refuse(404, 'NotFound');
    this.things.delete(path);
    if (path.includes('/pods/')) this.#tell('DELETED', thing);
    return { status: 200, body: { kind: 'Status', status: 'Success' } };
  }

  #read(path: string) {
    if (path === '/version') return { status: 200, body: { major: '1', minor: '34' } };
    const thing = this.things.get(path);
    if (thing) return { status: 200, body: thing };
    if (!path.endsWith('/pods')) return refuse(404, 'NotFound');
    const found = [...this.things].filter(([key]) => key.startsWith(`${path}/`));
    const items = found.map(([, one]) => one);
    return { status: 200, body: { kind: 'PodList', metadata: { resourceVersion: '7' }, items } };
  }
}

function podOf(job: string): string {
  return `/api/v1/namespaces/test/pods/${job}-pod`;
}

function refuse(code: number, reason: string) {
  const body = { kind: 'Status', status: 'Failure', code, reason, message: `refused: ${reason}` };
  return { status: code, body };
}
