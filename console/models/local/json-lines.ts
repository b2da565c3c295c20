/** Reads a stream of JSON lines, each as it comes; ends with the stream. Throws for a line that is no JSON. */
export async function* readJsonLines(
  bytes: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator {
  const reader = bytes.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const lines = (rest + next.value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
    }
    if (rest.trim() !== '') yield JSON.parse(rest);
  } finally {
    await reader.cancel().catch(() => {});
  }
}
