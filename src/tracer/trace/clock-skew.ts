import { isAnswer, isQueued, isServed } from './calls.ts';
import { spanKinds, type Span, type SpanEvent, type SpanHead } from './span.ts';
import { buildTree, type SpanTree, type TreeNode } from './tree.ts';

/** By how much the times of one host were moved to agree with those of the host that called it. */
export interface ClockSkew {
  readonly from: string;
  readonly to: string;
  /** What was added to the times of `to`, relative to those of `from`. */
  readonly offsetUs: number;
  /** How many calls between the two it was taken from. */
  readonly pairs: number;
}

export interface AlignedTree<S extends SpanHead = SpanHead> {
  /** The same tree where no clock contradicts another. */
  readonly tree: SpanTree<S>;
  readonly skews: readonly ClockSkew[];
}

/**
 * Moves the times of hosts whose clocks contradict their callers': a server that began before its
 * client or ended after it, though its own duration fits, or a consumer that began before its
 * producer. Each pair of hosts gets one offset, the median over its calls of what puts the server in
 * the middle of its client. Spans of unknown hosts stay as they are. Only for reading: adjusted times
 * are guesses, never stored.
 */
export function alignClocks<S extends SpanHead>(tree: SpanTree<S>): AlignedTree<S> {
  if (!tree.nodes.some(contradictsCaller)) return { tree, skews: [] };
  const links = linksOf(tree);
  const { offsets, skews } = offsetsFrom(tree, links);
  const spans = tree.nodes.map(({ span }) => moved(span, offsets.get(span.host ?? '')));
  return { tree: buildTree(spans), skews };
}

/** Calls between two hosts; offsets are what must be added to the times of `to`. */
interface HostLink {
  readonly from: string;
  readonly to: string;
  /** Of calls whose answer is no longer than they are. */
  readonly midpointsUs: number[];
  /** The least shift after which no answer begins before its call. */
  latestStartUs: number;
  hasContradiction: boolean;
  pairs: number;
}

function callerOf<S extends SpanHead>(node: TreeNode<S>): S | undefined {
  const { span, parent } = node;
  if (parent === undefined || span.host === undefined || !isServed(span)) return undefined;
  const caller = parent.span;
  if (caller.host === undefined || caller.host === span.host) return undefined;
  const isPair =
    isQueued(span, caller) || (caller.kind === spanKinds.client && isAnswer(span, caller));
  return isPair ? caller : undefined;
}

function contradictsCaller(node: TreeNode): boolean {
  const caller = callerOf(node);
  if (caller === undefined) return false;
  return (
    node.span.startUs < caller.startUs ||
    (fits(node.span, caller) && node.span.endUs > caller.endUs)
  );
}

/** Whether a call can enclose its answer; one from a queue may well be longer, and later. */
function fits(answer: SpanHead, call: SpanHead): boolean {
  return !isQueued(answer, call) && answer.endUs - answer.startUs <= call.endUs - call.startUs;
}

/** The links of a trace, each made when its first call is seen. */
class HostLinks {
  readonly all: HostLink[] = [];
  /** By the host that calls, then by the one that is called. */
  readonly #byHosts = new Map<string, Map<string, HostLink>>();

  find(from: string, to: string): HostLink | undefined {
    return this.#byHosts.get(from)?.get(to);
  }

  add(from: string, to: string): HostLink {
    const called = this.#byHosts.get(from) ?? new Map<string, HostLink>();
    const link = newLink(from, to);
    this.#byHosts.set(from, called.set(to, link));
    this.all.push(link);
    return link;
  }
}

function linksOf(tree: SpanTree): readonly HostLink[] {
  const links = new HostLinks();
  for (const node of tree.nodes) {
    const caller = callerOf(node);
    if (caller?.host === undefined || node.span.host === undefined) continue;
    addPair(links, { node, caller, hosts: [caller.host, node.span.host] });
  }
  return links.all;
}

/** Calls in both directions are one link, in the direction of the first of them. */
function addPair(
  links: HostLinks,
  pair: { readonly node: TreeNode; readonly caller: SpanHead; readonly hosts: [string, string] },
): void {
  const { node, caller } = pair;
  const [from, to] = pair.hosts;
  const backwards = links.find(to, from);
  const link = backwards ?? links.find(from, to) ?? links.add(from, to);
  const sign = backwards === undefined ? 1 : -1;
  link.pairs += 1;
  link.hasContradiction ||= contradictsCaller(node);
  if (fits(node.span, caller)) link.midpointsUs.push(sign * midpointShiftUs(node.span, caller));
  else if (sign > 0)
    link.latestStartUs = Math.max(link.latestStartUs, caller.startUs - node.span.startUs);
}

function newLink(from: string, to: string): HostLink {
  return { from, to, midpointsUs: [], latestStartUs: 0, hasContradiction: false, pairs: 0 };
}

function midpointShiftUs(answer: SpanHead, call: SpanHead): number {
  return (call.startUs - answer.startUs + (call.endUs - answer.endUs)) / 2;
}

function offsetOf(link: HostLink): number {
  if (!link.hasContradiction) return 0;
  return Math.round(median(link.midpointsUs) ?? link.latestStartUs);
}

function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  return upper === undefined || lower === undefined ? undefined : (lower + upper) / 2;
}

/** Follows the links from the hosts of the roots outwards, the fewest steps to each host. */
function offsetsFrom(
  tree: SpanTree,
  links: readonly HostLink[],
): { offsets: ReadonlyMap<string, number>; skews: ClockSkew[] } {
  const skewsByHost = skewsBetween(links);
  const offsets = new Map<string, number>();
  const skews: ClockSkew[] = [];
  for (const { span } of tree.topDown) {
    if (span.host === undefined || offsets.has(span.host)) continue;
    offsets.set(span.host, 0);
    const reached = [span.host];
    for (const host of reached) {
      for (const skew of skewsByHost.get(host) ?? []) {
        if (offsets.has(skew.to)) continue;
        offsets.set(skew.to, (offsets.get(host) ?? 0) + skew.offsetUs);
        reached.push(skew.to);
        if (skew.offsetUs !== 0) skews.push(skew);
      }
    }
  }
  return { offsets, skews };
}

/** Each link from both of its ends. */
function skewsBetween(links: readonly HostLink[]): ReadonlyMap<string, readonly ClockSkew[]> {
  const skewsByHost = new Map<string, ClockSkew[]>();
  for (const link of links) {
    const { from, to, pairs } = link;
    const offsetUs = offsetOf(link);
    const ends = [
      { from, to, offsetUs, pairs },
      { from: to, to: from, offsetUs: -offsetUs, pairs },
    ];
    for (const skew of ends) {
      const skews = skewsByHost.get(skew.from);
      if (skews === undefined) skewsByHost.set(skew.from, [skew]);
      else skews.push(skew);
    }
  }
  return skewsByHost;
}

function moved<S extends SpanHead>(span: S, offsetUs: number | undefined): S {
  if (offsetUs === undefined || offsetUs === 0) return span;
  const times = { startUs: span.startUs + offsetUs, endUs: span.endUs + offsetUs };
  return isRead(span)
    ? { ...span, ...times, events: span.events.map((event) => movedEvent(event, offsetUs)) }
    : { ...span, ...times };
}

function isRead(span: SpanHead): span is Span {
  return 'events' in span;
}

function movedEvent(event: SpanEvent, offsetUs: number): SpanEvent {
  return { ...event, timeUs: event.timeUs + offsetUs };
}
