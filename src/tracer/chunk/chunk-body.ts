import { promisify } from 'node:util';
import { brotliCompressSync, brotliDecompress, brotliDecompressSync, constants } from 'node:zlib';
import { asBuffer, ByteReader, ByteWriter } from '../bytes.ts';
import { ColumnReader } from './columns.ts';
import { SpanJoiner } from './joiner.ts';
import { SpanSplitter } from './splitter.ts';

/** On spans smaller than deflate's level 6 and faster than its level 3. */
const quality = 2;

/** No Brotli stream begins with it: its lowest bits are a window that there is not (RFC 7932, 9.1). */
const splitMark = 0x11;

/** Packs the bodies of exports to those of chunks. */
export class ChunkPacker {
  readonly #splitter = new SpanSplitter();
  readonly #packed = new ByteWriter();

  /**
   * Bodies one after the other as one chunk: a mark, the columns of their spans, and what is left without
   * these, compressed (Brotli, RFC 7932).
   */
  pack(bodies: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
    // Bodies one after the other are one body: repeated fields add up (protobuf, encoding).
    const rest = this.#splitter.split(Buffer.concat(bodies));
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: rest.length,
    };
    this.#packed.clear();
    this.#packed.byte(splitMark);
    this.#splitter.columns.writeTo(this.#packed);
    this.#packed.append(brotliCompressSync(rest, { params }));
    return this.#packed.finish();
  }
}

/** Most bodies fit in one piece, which is then not put together of many. */
const pieceBytes = 256 * 1024;

/**
 * The exports of a chunk as one body: all spans, or only those of the traces that are wanted, named in
 * hexadecimal, and a few others.
 */
export function unpackChunk(body: Uint8Array, wanted?: ReadonlySet<string>): Uint8Array {
  const { columns, packed } = open(body);
  const unpacked = brotliDecompressSync(packed, { chunkSize: pieceBytes });
  return columns ? new SpanJoiner(columns, wanted).join(unpacked) : unpacked;
}

const decompress = promisify(brotliDecompress);

/** So many are unpacked sooner than other threads have taken them up. */
const togetherMin = 16;

/** The same of several chunks: of many at the same time, in threads of their own. */
export async function unpackChunks(
  bodies: readonly Uint8Array[],
  wanted: ReadonlySet<string>,
): Promise<Uint8Array[]> {
  if (bodies.length < togetherMin) return bodies.map((body) => unpackChunk(body, wanted));
  return Promise.all(
    bodies.map(async (body) => {
      const { columns, packed } = open(body);
      const unpacked = await decompress(packed, { chunkSize: pieceBytes });
      return columns ? new SpanJoiner(columns, wanted).join(unpacked) : unpacked;
    }),
  );
}

/** What is compressed in a chunk's body, and its columns; older ones have none. */
function open(body: Uint8Array): { readonly columns?: ColumnReader; readonly packed: Buffer } {
  if (body[0] !== splitMark) return { packed: asBuffer(body) };
  const reader = new ByteReader(body);
  reader.at = 1;
  const columns = new ColumnReader(reader);
  return { columns, packed: asBuffer(body).subarray(reader.at) };
}
