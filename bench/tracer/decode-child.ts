// Reads the same exports over and over, in the way that is named, one export to an operation: `scan`
// takes the heads of their spans, `inflate-scan` inflates them before, `protobufjs` reads all of them.
import { gunzipSync } from 'node:zlib';
import { SpanScanner } from '../../src/tracer/otlp/scan.ts';
import { serveOrders } from '../harness/measured-child.ts';
import { makeSlices, plainBodies, type SlicesOptions } from './exports.ts';
import { loadFullDecoder } from './full-decode.ts';

const [way = '', options = ''] = process.argv.slice(2);
const [slice] = makeSlices(JSON.parse(options) as SlicesOptions);
if (!slice) throw new Error('there is nothing to read');
const compressed = slice.exports.map(({ gzip }) => gzip);
const plain = plainBodies(slice);
const scanner = new SpanScanner();

const loops: Readonly<Record<string, () => (turn: number) => unknown>> = {
  scan: () => (turn) => scanner.scan(plain[turn % plain.length] ?? empty),
  'inflate-scan': () => (turn) =>
    scanner.scan(gunzipSync(compressed[turn % compressed.length] ?? empty)),
  protobufjs: () => {
    const decode = loadFullDecoder();
    return (turn) => decode(plain[turn % plain.length] ?? empty);
  },
};
const empty = Buffer.alloc(0);
const loop = loops[way]?.();
if (!loop) throw new Error(`there is no way ${way}`);
serveOrders({ exports: plain.length, spans: slice.spanCount }, (operations) => {
  for (let turn = 0; turn < operations; turn += 1) loop(turn);
});
