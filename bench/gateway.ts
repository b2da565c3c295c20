// What the gateway costs beside a bare pass-through and Portkey's gateway: a chat, a stream, an answer
// from the cache, the time that it adds, and whether its memory stays flat.
import { chosenDepth } from './harness/depth.ts';
import { measureAnswers, measureStreams } from './gateway/answers.ts';
import { measureCached } from './gateway/cached.ts';
import { measureLatency } from './gateway/latency.ts';
import { measureMemory } from './gateway/memory.ts';
import { printReport } from './harness/report.ts';

const depth = chosenDepth();

await printReport([
  ['chats', () => measureAnswers(depth)],
  ['streams', () => measureStreams(depth)],
  ['the cache', () => measureCached(depth)],
  ['the time added', () => measureLatency(depth)],
  ['memory', () => measureMemory(depth)],
]);
