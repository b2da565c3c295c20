import type { EventEmitter } from 'node:events';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPeer } from '../harness/peers.ts';

/** What is used of Node-RED's package. */
interface NodeRed {
  readonly init: (settings: object) => void;
  readonly start: () => Promise<void>;
  readonly events: EventEmitter;
  readonly nodes: { readonly getNode: (id: string) => FlowNode };
}

interface FlowNode {
  readonly receive: (message: Message) => void;
}

interface Message {
  readonly end: () => void;
}

/** The same flow in Node-RED, called in process as ours is; it stores nothing, so a crash loses all. */
export async function openNodeRed(nodeIds: readonly string[]): Promise<() => Promise<void>> {
  const userDir = await mkdtemp(join(tmpdir(), 'ennead-bench-node-red-'));
  await writeFile(join(userDir, 'flows.json'), JSON.stringify(flowOf(nodeIds)));
  const red = loadPeer('node-red') as NodeRed;
  red.init({
    userDir,
    flowFile: 'flows.json',
    // No editor, no HTTP, no messages to its makers.
    httpAdminRoot: false,
    httpNodeRoot: false,
    telemetry: { enabled: false },
    logging: { console: { level: 'off' } },
  });
  const started = once(red.events, 'flows:started');
  await red.start();
  await started;
  await rm(userDir, { recursive: true });
  const first = red.nodes.getNode(nodeIds[0] ?? '');
  return () =>
    new Promise((end) => {
      first.receive({ end });
    });
}

/** Function nodes that pass on what they got; the last one says that it is there. */
function flowOf(ids: readonly string[]) {
  const tab = { id: 'tab', type: 'tab', label: 'chain' };
  const nodes = ids.map((id, index) => {
    const next = ids[index + 1];
    const func = next === undefined ? 'msg.end(); return null;' : 'return msg;';
    return { id, type: 'function', z: 'tab', func, outputs: 1, wires: [next ? [next] : []] };
  });
  return [tab, ...nodes];
}
