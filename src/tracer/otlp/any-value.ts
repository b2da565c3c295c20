import type { Wire } from './wire.ts';

/** How deep lists and maps may stand in one another; an attribute's own value is at depth 1. */
export const depthLimit = 32;

/**
 * Steps over an AnyValue that ends at `end` and throws a Fault where it is malformed. False when it
 * is nested deeper than `depthLimit`; what lies deeper is not looked at.
 */
export function isShallow(wire: Wire, end: number, depth = 1): boolean {
  let isGood = true;
  while (wire.at < end) {
    const tag = wire.tag();
    if (tag === 10 || tag === 58) wire.at = wire.length(end);
    else if (tag === 16 || tag === 24) wire.varint();
    else if (tag === 33) wire.at += 8;
    else if (tag === 42 || tag === 50) {
      const inner = wire.length(end);
      if (depth < depthLimit) isGood = isShallowList(wire, inner, { tag, depth }) && isGood;
      else isGood = false;
      wire.at = inner;
    } else wire.skip(tag, end, 7);
  }
  wire.close(end);
  return isGood;
}

function isShallowList(
  wire: Wire,
  end: number,
  { tag, depth }: { readonly tag: number; readonly depth: number },
): boolean {
  let isGood = true;
  while (wire.at < end) {
    const itemTag = wire.tag();
    if (itemTag !== 10) {
      wire.skip(itemTag, end, 1);
      continue;
    }
    const item = wire.length(end);
    const isItemGood =
      tag === 42 ? isShallow(wire, item, depth + 1) : isShallowPair(wire, item, depth + 1);
    isGood &&= isItemGood;
  }
  wire.close(end);
  return isGood;
}

function isShallowPair(wire: Wire, end: number, depth: number): boolean {
  let isGood = true;
  while (wire.at < end) {
    const tag = wire.tag();
    if (tag === 10) wire.at = wire.length(end);
    else if (tag === 18) {
      const isValueGood = isShallow(wire, wire.length(end), depth);
      isGood &&= isValueGood;
    } else wire.skip(tag, end, 2);
  }
  wire.close(end);
  return isGood;
}

/** The text, number or boolean that an AnyValue between `from` and `end` holds, else undefined. */
export function scalarOf(
  wire: Wire,
  { from, end }: { readonly from: number; readonly end: number },
  textOf: (from: number, end: number) => string,
): string | number | boolean | undefined {
  let value: string | number | boolean | undefined;
  wire.at = from;
  while (wire.at < end) {
    const tag = wire.tag();
    if (tag === 10) {
      const textEnd = wire.length(end);
      value = textOf(wire.at, textEnd);
      wire.at = textEnd;
    } else if (tag === 24) value = wire.signed();
    else if (tag === 33) value = wire.double();
    else if (tag === 16) value = wire.varint() !== 0;
    else {
      if (tag === 42 || tag === 50 || tag === 58) value = undefined;
      wire.stepOver(tag, end);
    }
  }
  return value;
}
