const lineMax = 8 * 1024 * 1024;

/** The JSON values of a stream with one a line; throws RangeError beyond 8 MiB, SyntaxError on others. */
export async function* readJsonLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytes) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > lineMax) throw new RangeError('a line exceeds 8 MiB');
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
  }
  rest += decoder.decode();
  if (rest.trim() !== '') yield JSON.parse(rest);
}
