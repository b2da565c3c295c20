import { atLeast, type Figure } from '../harness/figure.ts';
import type { Depth } from '../harness/depth.ts';
import { measureLoops, type LoopRow } from './loops.ts';

const unit = '/s per core';

const rows: readonly LoopRow[] = [
  {
    loop: 'token kit',
    name: 'Verifier.verify: expiry, revocation, identity',
    role: 'ours',
    unit,
    operations: 400_000,
    goal: atLeast(200_000, unit),
  },
  {
    loop: 'token map',
    name: 'Map.get: no expiry, no revocation, no bound',
    role: 'limit',
    unit,
    operations: 400_000,
  },
  {
    loop: 'token fast-jwt',
    name: 'fast-jwt with its cache',
    role: 'peer',
    unit,
    operations: 200_000,
  },
  { loop: 'token jose', name: 'jose jwtVerify, each time', role: 'peer', unit, operations: 8_000 },
];

/** How many tokens that were verified before one core can check in a second. */
export async function measureTokens(depth: Depth): Promise<Figure[]> {
  const figure = {
    title: 'Checking a token seen before',
    rows: await measureLoops(rows, depth, (cpuMicros) => 1e6 / cpuMicros),
    note: '500 tokens of about 1 kB in turn, each a new string cut from bytes, as in a request',
  };
  return [figure];
}
