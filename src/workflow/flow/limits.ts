/** What one flow may hold; beyond it lies a mistake or an attack. */
export const flowLimits = {
  nodes: 1_000,
  edges: 5_000,
  /** Bytes of JSON. */
  flowBytes: 1024 * 1024,
  /** Bytes of JSON in one node's `data`. */
  dataBytes: 256 * 1024,
  /** Objects and lists within each other in `data`. */
  depth: 32,
  /** Loops within each other. */
  loopDepth: 8,
  /** Faults that are told of; more help nobody. */
  faults: 200,
} as const;

/** What one expression may take. */
export const expressionLimits = {
  /** Characters of a text with placeholders. */
  templateLength: 128 * 1024,
  /** Characters of such a text times its placeholders and tags, by which the time to read it grows. */
  templateWork: 8_000_000,
  /** Characters of a condition. */
  conditionLength: 4_096,
  /** Milliseconds for all placeholders of a node together. */
  renderMs: 250,
  /** Characters and list items that the placeholders of a node may bring forth. */
  renderSize: 8 * 1024 * 1024,
  /** Milliseconds for one condition. */
  conditionMs: 100,
  /** Rounds, characters and list items that one condition may go through. */
  conditionSize: 1_000_000,
} as const;

/** Keys that would reach a prototype; no settings, node or input may have them. */
export const forbiddenKeys: ReadonlySet<string> = new Set([
  '__proto__',
  'constructor',
  'prototype',
]);
