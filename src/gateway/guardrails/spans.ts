import type { Span } from './personal-data.ts';

/**
 * Texts that stand side by side, with what lies in the spans of all of them together replaced: what lies
 * across their ends is replaced where it begins, and gone from those behind. Spans are in order and do
 * not overlap.
 */
export function replaceSpans(
  texts: readonly string[],
  spans: readonly Span[],
  replace: (found: string) => string,
): readonly string[] {
  if (spans.length === 0) return texts;
  const whole = texts.join('');
  let from = 0;
  let next = 0;
  return texts.map((text) => {
    const to = from + text.length;
    let replaced = '';
    let done = from;
    for (let span = spans[next]; span && span.start < to; span = spans[next]) {
      const { start, end } = span;
      if (start >= from) replaced += whole.slice(done, start) + replace(whole.slice(start, end));
      done = Math.min(end, to);
      if (end > to) break;
      next += 1;
    }
    from = to;
    return replaced + whole.slice(done, to);
  });
}

/** Of spans in texts that stand side by side, those that lie across the end of one. */
export function spansAcross(texts: readonly string[], spans: readonly Span[]): readonly Span[] {
  let at = 0;
  let end = texts[0]?.length ?? 0;
  return spans.filter((span) => {
    while (end <= span.start && at < texts.length - 1) {
      at += 1;
      end += texts[at]?.length ?? 0;
    }
    return end > span.start && end < span.end;
  });
}
