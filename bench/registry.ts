// What the registry costs beside the bare things: a call through it beside the official client, a
// discovery among 10,000 connections, the watching of 1,000 servers, and the memory of a connection.
import { chosenDepth } from './harness/depth.ts';
import { printReport } from './harness/report.ts';
import { measureCalls } from './registry/calls.ts';
import { measureDiscovery } from './registry/discovery.ts';
import { measureWatching } from './registry/watching.ts';

const depth = chosenDepth();

await printReport([
  ['http', () => measureCalls('http', depth)],
  ['stdio', () => measureCalls('stdio', depth)],
  ['everything', () => measureCalls('everything', depth)],
  ['discovery', () => measureDiscovery(depth)],
  ['watching', () => measureWatching(depth)],
]);
