import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../src/kit/testing.ts';
import { Load, type Shot } from '../harness/load.ts';
import { agentCount, capabilityNames, queryOf, registrationOf } from './agents.ts';
import type { PeerClient } from './peer-client.ts';

const waitMs = 20_000;
/** etcd takes no more in a transaction than 128. */
const putsAtOnce = 120;

/** etcd over its HTTP gateway: an agent lies under each of its capabilities. */
export class Etcd implements PeerClient {
  readonly lookup = 'a range of ten keys over HTTP, no token';
  readonly put = 'a put over HTTP, written to disk';
  readonly #load: Load;
  #storedCount = 0;

  private constructor(url: string) {
    this.#load = new Load(url, ['']);
  }

  /** Chooses ports and says how to start the server that listens there. */
  static async open(folder: string) {
    const [client, peer] = [await findFreePort(), await findFreePort()];
    const url = `http://127.0.0.1:${client}`;
    const peerUrl = `http://127.0.0.1:${peer}`;
    const args = [
      '--name=bench',
      `--data-dir=${folder}/data`,
      '--log-level=error',
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=bench=${peerUrl}`,
    ];
    return { client: new Etcd(url), args };
  }

  async start(): Promise<void> {
    const until = Date.now() + waitMs;
    for (;;) {
      try {
        await this.#load.send(putShot('start', 'yes'));
        return;
      } catch (error) {
        if (Date.now() > until) throw error;
        await sleep(50);
      }
    }
  }

  async fill(): Promise<void> {
    const puts = Array.from({ length: agentCount }, (_, at) => {
      const agent = registrationOf(`agent-${at}`, at);
      const value = base64(textOf(agent));
      return agent.capabilities.map((name) => ({
        requestPut: { key: base64(keyOf(name, agent.agentId)), value },
      }));
    }).flat();
    const shots: Shot[] = [];
    for (let at = 0; at < puts.length; at += putsAtOnce) {
      shots.push(shotOf('txn', { success: puts.slice(at, at + putsAtOnce) }));
    }
    await this.#load.repeat((turn) => this.#send(shots[turn - 1]), shots.length);
  }

  async look(times: number): Promise<void> {
    const shots = capabilityNames.map((_, turn) => rangeShot(turn));
    await this.#load.repeat((turn) => this.#send(shots[turn % shots.length]), times);
  }

  async store(times: number): Promise<void> {
    const first = this.#storedCount;
    this.#storedCount += times;
    await this.#load.repeat((turn) => {
      const agent = registrationOf(`stored-${first + turn}`, turn);
      return this.#send(putShot(agent.agentId, textOf(agent)));
    }, times);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#load[Symbol.asyncDispose]();
  }

  async #send(shot: Shot | undefined): Promise<void> {
    if (shot) await this.#load.send(shot);
  }
}

function keyOf(capability: string, agentId: string): string {
  return `by/${capability}/${agentId}`;
}

function textOf(agent: object): string {
  return JSON.stringify({ ...agent, load: 0, status: 'active' });
}

function putShot(key: string, value: string): Shot {
  return shotOf('put', { key: base64(key), value: base64(value) });
}

function rangeShot(turn: number): Shot {
  const { capabilities, limit } = queryOf(turn);
  const [capability = ''] = capabilities;
  const key = keyOf(capability, '');
  // The end of a prefix: its last byte, one higher.
  return shotOf('range', { key: base64(key), range_end: base64(`${key.slice(0, -1)}0`), limit });
}

function shotOf(operation: string, body: object): Shot {
  return { method: 'POST', path: `/v3/kv/${operation}`, body: JSON.stringify(body) };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
