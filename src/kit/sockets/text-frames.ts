/** A text message as a server sends it: one frame, not masked (RFC 6455, section 5.2). */
export function textFrame(text: string): Buffer {
  const size = Buffer.byteLength(text);
  const head = headOf(size);
  const frame = Buffer.allocUnsafe(head.length + size);
  head.copy(frame);
  frame.write(text, head.length);
  return frame;
}

/**
 * Encodes an event once for all readers of a topic who get the very same message of it; another
 * message in between costs an encoding more.
 */
export class SharedFrames {
  #message: object | undefined;
  #seq = 0;
  #frame: Buffer = Buffer.alloc(0);

  /** The frame of a message with its `seq`. */
  of(message: object, seq: number): Buffer {
    if (message !== this.#message || seq !== this.#seq) {
      this.#frame = textFrame(JSON.stringify({ ...message, seq }));
      this.#message = message;
      this.#seq = seq;
    }
    return this.#frame;
  }
}

const finalText = 0x81;
const sizeIn16Bits = 126;
const sizeIn64Bits = 127;

function headOf(size: number): Buffer {
  if (size < sizeIn16Bits) return Buffer.from([finalText, size]);
  if (size <= 0xff_ff) {
    const head = Buffer.from([finalText, sizeIn16Bits, 0, 0]);
    head.writeUInt16BE(size, 2);
    return head;
  }
  const head = Buffer.alloc(10);
  head[0] = finalText;
  head[1] = sizeIn64Bits;
  head.writeBigUInt64BE(BigInt(size), 2);
  return head;
}
