/** How the lines of a text end; a text area knows `\n` alone. */
export type LineEnd = '\n' | '\r\n' | 'mixed';

/** The line ends that a text is saved with, so that an edit changes no line that it does not touch. */
export function lineEndOf(text: string): LineEnd {
  const crlf = text.match(/\r\n/g)?.length ?? 0;
  const returns = text.match(/\r/g)?.length ?? 0;
  const feeds = text.match(/\n/g)?.length ?? 0;
  if (returns === 0) return '\n';
  return crlf === returns && crlf === feeds ? '\r\n' : 'mixed';
}

/** As a text area holds it. */
export function toEdited(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

/** As it is saved; lines that ended in several ways all end in `\n`. */
export function fromEdited(text: string, end: LineEnd): string {
  return end === '\r\n' ? text.replaceAll('\n', '\r\n') : text;
}

/** The text of bytes; undefined where they are none. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
