import { promisify } from 'node:util';
import { brotliCompressSync, brotliDecompress, brotliDecompressSync, constants } from 'node:zlib';

/** On spans smaller than deflate's level 6 and faster than its level 3. */
const quality = 2;

/** Compresses the bodies of exports, one after the other, to the body of a chunk (Brotli, RFC 7932). */
export function packChunk(bodies: readonly Uint8Array[]): Uint8Array {
  // Bodies one after the other are one body: repeated fields add up (protobuf, encoding).
  const whole = Buffer.concat(bodies);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: whole.length,
  };
  return brotliCompressSync(whole, { params });
}

/** Most bodies fit in one piece, which is then not put together of many. */
const pieceBytes = 1024 * 1024;

/** The bodies of a chunk as one body. */
export function unpackChunk(body: Uint8Array): Uint8Array {
  return brotliDecompressSync(body, { chunkSize: pieceBytes });
}

const decompress = promisify(brotliDecompress);

/** The bodies of several chunks, each as one body; unpacked at the same time, in threads of their own. */
export async function unpackChunks(bodies: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const [first] = bodies;
  // To hand a single one over to another thread would spare nothing.
  if (first && bodies.length === 1) return [unpackChunk(first)];
  return Promise.all(bodies.map((body) => decompress(body, { chunkSize: pieceBytes })));
}
