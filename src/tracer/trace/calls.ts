import { spanKinds, type SpanHead } from './span.ts';

/** Whether a span asks something of another process. */
export function isCall(span: SpanHead): boolean {
  return span.kind === spanKinds.client || span.kind === spanKinds.producer;
}

/** Whether a span serves what came from outside its process. */
export function isServed(span: SpanHead): boolean {
  return span.kind === spanKinds.server || span.kind === spanKinds.consumer;
}

/** Whether a child is the other side of its parent's call. */
export function isAnswer(child: SpanHead, parent: SpanHead): boolean {
  return isServed(child) || child.service !== parent.service;
}

/** Whether a child only takes up what its parent left in a queue: nobody waits for it. */
export function isQueued(child: SpanHead, parent: SpanHead): boolean {
  return child.kind === spanKinds.consumer && parent.kind === spanKinds.producer;
}
